"""The Data screen's sections.

Imports `session`, `shell` and `widgets`.
"""
