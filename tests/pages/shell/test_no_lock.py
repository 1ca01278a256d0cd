"""Streamlit's settings, read without their lock."""

from __future__ import annotations

import inspect
import threading
from contextlib import nullcontext

import pytest
from streamlit import config

from pages._ui.shell.no_lock import read_settings_without_lock


def test_a_thread_that_holds_the_lock_keeps_no_other_from_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    own = config._config_lock
    monkeypatch.setattr(config, "_config_lock", own)  # put back in the end
    found: list[object] = []
    reading = threading.Thread(target=lambda: found.append(config.get_option("server.port")), daemon=True)
    with own:
        read_settings_without_lock()
        reading.start()
        reading.join(60)
    assert found == [config.get_option("server.port")]


def test_streamlit_still_locks_there() -> None:
    assert not isinstance(config._config_lock, nullcontext)
    assert "with _config_lock:" in inspect.getsource(config.get_option)
