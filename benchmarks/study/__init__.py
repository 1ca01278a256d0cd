"""The study of error rates for docs/validity.md: simulated, stored cell by cell, written as tables."""
