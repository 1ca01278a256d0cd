"""The version of this code, for what writes it down: results, backups, requests."""

__version__ = "0.2.0"
