"""The files that options name: the options, reading them, and what is said of them.

Imports `asked`, `connectors`, `io`, `report` and `terminal`.
"""
