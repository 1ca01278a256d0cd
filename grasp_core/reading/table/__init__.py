"""A file's columns and rows as text, and what their names say."""
