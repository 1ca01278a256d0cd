"""Runs: computed in blocks outside the caller's process, with progress, time left and cancel.

Imports `io`, `models`, `panels`, `permutation`, `remarks` and `store`.
"""
