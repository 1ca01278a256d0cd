"""Exports of survey tools: a row per respondent.

Imports `files`, `shapes` and `table`.
"""
