"""The HTTP API: what people do on the pages, for programs. docs/api.md tells all of it.

Imports `benchmark`, `engine`, `export`, `io`, `models_as_raters`, `panels`, `rater_map`, `report` and
`store`.
"""
