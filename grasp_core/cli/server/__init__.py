"""The commands for whoever has a server's database: people, tokens, log, backups."""
