"""Tests on null distributions: p-values, corrections, marks, and when to stop permutations."""
