"""Models as raters: how far each model agrees with each group, held against random groups."""
