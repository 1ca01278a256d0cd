"""From null distributions to p-values, corrections, marks, and when further permutations change none."""
