"""The Data screen's sections."""
