"""Share links: made, withdrawn, opened.

Imports `session`, `shell` and `widgets`.
"""
