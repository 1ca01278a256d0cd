"""Plan: whom to recruit next, and how many items."""
