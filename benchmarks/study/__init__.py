"""The study of error rates that docs/validity.md tells: simulated, kept cell by cell, written as tables."""
