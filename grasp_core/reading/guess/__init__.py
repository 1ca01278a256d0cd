"""Guesses of the roles of a file's columns: proposals for a person to confirm."""
