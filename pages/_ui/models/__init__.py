"""Models as raters.

Imports `analysis`, `benchmark`, `data`, `result`, `session`, `shell` and `widgets`.
"""
