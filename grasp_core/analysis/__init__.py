"""Numbers about groups under one set of permutations, and checks before and intervals beside them."""
