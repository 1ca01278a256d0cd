"""Runs: prepared, computed outside the caller's process, saved, resumed, finished.

Imports `guards`, `io`, `models`, `panels`, `permutation`, `planner`, `quality`, `remarks`, `report` and
`store`.
"""
