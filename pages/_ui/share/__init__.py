"""Share links: made, withdrawn, opened.

Imports `session` and `shell`.
"""
