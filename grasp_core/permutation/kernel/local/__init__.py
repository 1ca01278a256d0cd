"""Many labels: counts of the labels that an item has."""
