"""A result's groups and labels as tables."""
