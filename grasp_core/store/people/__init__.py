"""What lasts of people: their tokens.

Imports no other room.
"""
