"""Screens for raters who may not have read the items, from the annotations alone."""
