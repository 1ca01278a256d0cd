"""Pairs: the groups of an axis held against each other two by two, under permutations within the two."""
