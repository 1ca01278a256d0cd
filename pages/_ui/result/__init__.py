"""A run's result: words, figures and tables.

Imports `shell` and `widgets`.
"""
