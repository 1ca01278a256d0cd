"""The commands for whoever has a server's database: people, projects, tokens, links, watches, log, backups.

Imports `connectors`, `engine`, `io`, `panels`, `report`, `store`, `terminal` and `watches`.
"""
