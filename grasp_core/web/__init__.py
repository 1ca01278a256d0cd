"""Answers of a server beside its pages: API, gate, headers, metrics."""
