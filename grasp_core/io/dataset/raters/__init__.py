"""Raters as the files describe them: ids, columns, profiles."""
