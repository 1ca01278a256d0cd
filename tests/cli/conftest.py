"""What tests of commands start from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.asking import nothing_planted
from tests.permutation.simulated import files, simulate


@pytest.fixture(scope="module", autouse=True)
def planting() -> Iterator[None]:
    """None: the tests of the engine have what could have been found."""
    with nothing_planted():
        yield


def write_data(folder: Path) -> None:
    """A small data set in two files."""
    made = files(*simulate(1, items=30, missing=0.1))
    for name, content in zip(("votes.csv", "raters.csv"), made, strict=True):
        (folder / name).write_bytes(content)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with those files."""
    write_data(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path
