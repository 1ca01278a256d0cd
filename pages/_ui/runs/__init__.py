"""The Runs screen: list, search, edit, compare.

Imports `session`, `shell` and `widgets`.
"""
