"""Shapes of exports in a table: a row per annotation, lists, objects by rater, columns by rater."""
