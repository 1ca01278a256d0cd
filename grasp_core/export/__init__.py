"""A result as files to take away, one module per format; `registry` lists them all.

Imports `charts`, `panels`, `planner`, `rater_map`, `remarks` and `report`.
"""
