"""The panel of a group's items: which of them carry its label use and its distance.

Imports `io`, `permutation`, `statistics` and `remarks`.
"""
