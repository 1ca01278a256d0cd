"""A run's result: words, figures and tables.

Imports `session`, `shell` and `widgets`.
"""
