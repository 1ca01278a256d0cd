"""Runs: prepared, computed outside the caller's process, saved, resumed, finished.

Imports `io`, `models`, `panels`, `permutation`, `remarks` and `store`.
"""
