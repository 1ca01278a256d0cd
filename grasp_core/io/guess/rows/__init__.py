"""Rows, and raters, that are not meant to count, or perhaps not."""
