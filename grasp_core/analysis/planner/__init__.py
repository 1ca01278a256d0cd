"""Planning: how many raters of whom, and how many items, find a difference next time."""
