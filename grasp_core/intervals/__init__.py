"""Intervals: how far statistics would move with other raters, other items, or both."""
