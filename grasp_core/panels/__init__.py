"""Panels: what is tested under one set of permutations; a new question is one more module here."""
