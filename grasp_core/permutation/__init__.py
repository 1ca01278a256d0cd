"""Seeded permutations, the compiled kernel, null distributions, p-values and corrections."""
