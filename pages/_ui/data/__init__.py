"""The Data screen's sections.

Imports `session`, `shell`, `sources` and `widgets`.
"""
