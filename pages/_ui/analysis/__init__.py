"""The Analysis screen's sections."""
