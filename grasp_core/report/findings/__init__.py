"""Findings of a result, doubts about them, ways to remove doubts, and advice."""
