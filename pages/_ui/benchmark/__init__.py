"""The few-shot benchmark.

Imports `data`, `result`, `session`, `share`, `shell` and `widgets`.
"""
