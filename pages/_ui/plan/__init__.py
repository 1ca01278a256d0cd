"""Plan: whom to recruit next, and how many items.

Imports `result`, `session` and `widgets`.
"""
