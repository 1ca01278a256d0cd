"""Statistics of groups under one set of permutations, their intervals, and checks of the data before."""
