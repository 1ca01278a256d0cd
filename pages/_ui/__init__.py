"""Shared widgets, session state and caches of the pages."""
