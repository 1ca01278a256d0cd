"""The Start screen's actions.

Imports `result`, `session` and `shell`.
"""
