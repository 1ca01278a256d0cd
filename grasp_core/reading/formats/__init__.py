"""Exports of tools and published data sets, read as tables."""
