"""Stores of watches: what is looked at and when, the runs that came of it, addresses of feeds."""
