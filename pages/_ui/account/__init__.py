"""Sections of Account and of People: sessions and personal tokens of one's own; for admins, everybody."""
