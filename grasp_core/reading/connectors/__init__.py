"""Connectors: annotations straight from the tools and databases where they are."""
