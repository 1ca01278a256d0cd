"""The store: runs, their files while needed, and links, in SQLite or PostgreSQL.

Imports `benchmark`, `panels` and `report`.
"""
