"""Pairs of groups in words and tables.

Imports `findings`, `tables` and `words`.
"""
