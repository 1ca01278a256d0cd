"""A result without groups of few raters, and without what would tell of them."""
