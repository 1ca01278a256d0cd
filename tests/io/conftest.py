from __future__ import annotations

import pytest

from grasp_core.io.parsing import read as tables
from tests.io.making import parsed_here


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are parsed in this process, whose limits of parsing a test may change."""
    monkeypatch.setattr(tables, "read", parsed_here)
