"""Answers of a server beside its pages: API, gate, headers, metrics.

Imports `models_as_raters`, `panels`, `report` and `store`.
"""
