"""Who uses a server: people, their sessions and their personal tokens.

Imports no other room.
"""
