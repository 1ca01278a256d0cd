"""What tests of commands start from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.permutation.simulated import files, simulate


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a small data set in two files."""
    made = files(*simulate(1, items=30, missing=0.1))
    for name, content in zip(("votes.csv", "raters.csv"), made, strict=True):
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path
