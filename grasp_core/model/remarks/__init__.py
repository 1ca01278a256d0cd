"""Codes of all remarks on data and results, each with its sentence."""
