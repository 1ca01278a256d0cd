"""Exports of annotation tools, one module each.

Imports `archives`, `crowds`, `files`, `remarks`, `shapes` and `table`.
"""
