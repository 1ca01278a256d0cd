"""Watches: saved analyses run again when their files changed, and what changed since then.

Imports `connectors`, `engine`, `io`, `models_as_raters`, `report` and `store`.
"""
