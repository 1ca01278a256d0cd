"""Planning: how many raters of whom, and how many items, find a difference next time.

Imports `data_quality`, `io`, `panels`, `permutation`, `remarks`, `report` and `statistics`.
"""
