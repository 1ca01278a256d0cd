"""Pairs of groups in words and tables."""
