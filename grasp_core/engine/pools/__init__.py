"""Blocks of permutations, and the workers that compute them: threads, processes, a Dask cluster."""
