"""Codes of all that is said about data and results, each with its words."""
