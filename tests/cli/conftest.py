"""What tests of commands start from."""

from pathlib import Path

import pytest

from tests.engine.asking import planting as planting
from tests.few_items import few_items
from tests.permutation.simulated import files, simulate


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


@pytest.fixture
def few_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the example of few items."""
    for name, content in few_items().items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path
