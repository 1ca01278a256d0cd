"""What tests of commands start from."""

from pathlib import Path

import pytest

from tests.commands import write
from tests.engine.asking import planting as planting
from tests.few_items import few_items
from tests.permutation.simulated import named_files, simulate


def write_data(folder: Path) -> None:
    """A small data set in two files."""
    write(folder, named_files(*simulate(1, items=30, missing=0.1)))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with those files."""
    write_data(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def few_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the example of few items."""
    write(tmp_path, few_items())
    monkeypatch.chdir(tmp_path)
    return tmp_path
