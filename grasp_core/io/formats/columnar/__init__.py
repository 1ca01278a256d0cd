"""Parquet and Arrow, whose cells may be lists.

Imports `archives`, `files`, `remarks`, `shapes` and `table`.
"""
