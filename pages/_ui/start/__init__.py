"""The Start screen's actions.

Imports `session` and `shell`.
"""
