"""Shared widgets, session state and caches of the pages.

Imports the core alone.
"""
