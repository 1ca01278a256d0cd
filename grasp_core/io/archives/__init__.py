"""Compressed files, archives and their members.

Imports `remarks` and `table`.
"""
