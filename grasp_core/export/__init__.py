"""A result as files to take away, one module per format; `registry` lists them all.

Imports `charts`, `io`, `panels`, `planner`, `rater_map`, `remarks` and `report`.
"""
