"""The version of this code, which results, backups and requests record."""

__version__ = "0.2.0"
