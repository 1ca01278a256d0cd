"""Watches and their feeds, over the API.

Imports `api`, `report`, `store` and `watches`.
"""
