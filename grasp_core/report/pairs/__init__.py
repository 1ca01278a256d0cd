"""Pairs of groups in words and tables.

Imports no other room of `report`.
"""
