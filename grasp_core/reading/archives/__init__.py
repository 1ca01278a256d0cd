"""Compressed files, archives and their members."""
