"""A file's columns and rows as text, and the meaning of columns' names."""
