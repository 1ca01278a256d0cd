"""Exports of crowdsourcing platforms.

Imports `files`, `remarks`, `shapes` and `table`.
"""
