"""Many labels: counts of an item as digits of a few numbers, which are looked up."""
