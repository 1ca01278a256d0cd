"""Altair charts of a run's result, the same on pages and in exports."""
