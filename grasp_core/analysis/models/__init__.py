"""Models as raters: their labels read, and how far each model agrees with each group."""
