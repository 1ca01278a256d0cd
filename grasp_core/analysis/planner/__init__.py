"""Planning: how many raters of each group, and how many items, find a difference next time."""
