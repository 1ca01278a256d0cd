"""Guesses which column of a file is what: a proposal for a person to confirm.

Imports `dataset`, `formats` and `table`.
"""
