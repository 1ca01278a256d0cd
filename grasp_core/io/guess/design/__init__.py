"""Tables whose rows are not one rater's one answer to one item, whatever their columns are called."""
