"""Guesses which column of a file is what: a proposal for a person to confirm."""
