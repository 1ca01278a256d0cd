"""Models as raters."""
