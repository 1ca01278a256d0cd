"""Models as raters: read their labels, and test how far each model agrees with each group."""
