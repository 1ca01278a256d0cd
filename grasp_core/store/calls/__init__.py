"""Stores of calls to the API: outcomes of requests that may come twice, who is told when a run ends."""
