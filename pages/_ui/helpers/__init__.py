"""Helpers for any screen: the visitor and their data, links between screens, widgets, files."""
