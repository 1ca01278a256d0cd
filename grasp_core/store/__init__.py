"""The store: runs, their files while needed, and links, in SQLite or PostgreSQL."""
