"""GRASP without a browser: ``grasp COMMAND``.

Imports `asked`, `benchmark`, `charts`, `connectors`, `data_quality`, `engine`, `export`, `io`,
`models_as_raters`, `notebook`, `panels`, `permutation`, `planner`, `rater_map`, `report` and `screens`.
"""

from grasp_core.cli.entry import BAD_INPUT, FAILED, INTERRUPTED, main

__all__ = ["BAD_INPUT", "FAILED", "INTERRUPTED", "main"]
