"""Helpers that any screen may use: who visits and what they have, ways between screens, widgets, files."""
