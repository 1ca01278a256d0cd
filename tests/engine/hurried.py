"""A process for runs that saves them, and looks for others, more often than outside of tests."""

from grasp_core.engine import process, saved_runs

_get_ready = process._get_ready


def get_ready(log_format: str, folder: str) -> None:
    """In place of the process's own function of this name."""
    saved_runs.SAVE_SECONDS = saved_runs.POLL_SECONDS = 0.1
    _get_ready(log_format, folder)
