"""Few raters an item: counts of an item held as one number."""
