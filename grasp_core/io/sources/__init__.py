"""Sources of bytes: paths, folders, addresses, published data.

Imports `archives`, `parsing` and `table`.
"""
