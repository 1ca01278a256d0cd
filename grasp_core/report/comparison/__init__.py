"""Two runs side by side.

Imports `panels`.
"""
