"""Two runs side by side.

Imports `panels` and `pairs`.
"""
