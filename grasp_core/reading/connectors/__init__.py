"""Connectors: annotations fetched directly from annotation tools and databases."""
