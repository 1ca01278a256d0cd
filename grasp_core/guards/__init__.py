"""Guards: where shuffling profiles does not hold, and what is said and tested instead."""
