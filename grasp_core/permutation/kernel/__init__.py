"""Compiled counting and adding up: what permutations make of the items."""
