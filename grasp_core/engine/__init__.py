"""Runs: prepared, computed outside the caller's process, saved, resumed, finished."""
