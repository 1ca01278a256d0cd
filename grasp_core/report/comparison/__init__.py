"""Two runs side by side.

Imports `pairs`, `panels`, `tables` and `words`.
"""
