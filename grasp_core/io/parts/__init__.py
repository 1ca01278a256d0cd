"""Data sets that stay in parts on disk.

Imports `dataset`, `formats`, `remarks`, `sources` and `table`.
"""
