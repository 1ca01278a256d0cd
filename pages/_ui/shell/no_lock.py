"""Streamlit's settings are read without their lock, once the server has started and nobody sets them.

Each of a page's messages reads one. A thread that has to give up the interpreter while it holds the lock
makes all others wait for it; each in turn takes it without being able to run, and from then on they hand it
round: with ten pages drawn at a time, eight threads of ten were found there.
"""

from __future__ import annotations

from contextlib import nullcontext

from streamlit import config


def read_settings_without_lock() -> None:
    """Have it so from now on."""
    config._config_lock = nullcontext()  # type: ignore[assignment]
