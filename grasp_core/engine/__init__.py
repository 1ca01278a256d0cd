"""Runs: prepared, computed outside the caller's process, saved, resumed, finished.

Imports `data_quality`, `guards`, `io`, `models_as_raters`, `panels`, `permutation`, `planner`, `rater_map`,
`remarks`, `report` and `store`.
"""
