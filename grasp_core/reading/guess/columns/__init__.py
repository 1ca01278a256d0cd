"""Which columns hold items, raters and labels, in a long file or a matrix."""
