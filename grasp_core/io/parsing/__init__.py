"""A stranger's bytes become a table, in a limited process.

Imports `archives`, `files`, `formats` and `table`.
"""
