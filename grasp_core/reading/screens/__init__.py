"""Screens: raters who may not have read, found in the annotations alone."""
