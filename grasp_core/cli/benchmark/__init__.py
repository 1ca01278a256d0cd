"""The commands of the few-shot benchmark, below ``raft``.

Imports `benchmark`, `data`, `io`, `models` and `report`.
"""
