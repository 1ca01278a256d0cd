"""Sections of Account: personal tokens.

Imports `session` and `widgets`.
"""
