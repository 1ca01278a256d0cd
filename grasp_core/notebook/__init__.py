"""GRASP from Python: what ``import grasp_core as grasp`` gives, on data frames, files and a server's runs.

Imports `asked`, `benchmark`, `charts`, `connectors`, `data_quality`, `engine`, `export`, `io`,
`models_as_raters`, `panels`, `permutation`, `planner`, `rater_map` and `report`.
"""
