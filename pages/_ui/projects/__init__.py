"""Projects: made, listed, changed, and who belongs to them.

Imports `session`, `shell` and `widgets`.
"""
