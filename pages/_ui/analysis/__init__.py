"""The Analysis screen's sections.

Imports `session` and `widgets`.
"""
