"""Planning: how many raters of whom, and how many items, find a difference next time.

Imports `io`, `panels`, `permutation`, `quality`, `remarks`, `report` and `statistics`.
"""
