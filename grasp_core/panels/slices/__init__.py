"""The panel of slices: cohesion once more on the items of each value of a column."""
