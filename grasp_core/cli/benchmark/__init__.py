"""The commands of the few-shot benchmark, below ``raft``.

Imports `benchmark`, `data`, `io`, `models_as_raters`, `report` and `terminal`.
"""
