"""Watches: saved analyses run again when their files changed, and what changed since then.

Imports `accounts`, `engine`, `io`, `report` and `store`.
"""
