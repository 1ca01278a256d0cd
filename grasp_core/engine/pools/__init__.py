"""Blocks of permutations, and who computes them: threads, processes, a Dask cluster."""
