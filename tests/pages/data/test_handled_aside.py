"""The process that draws pages neither guesses nor loads what strangers bring."""

from typing import NoReturn

import pytest

from grasp_core.reading.dataset import load
from grasp_core.reading.guess.look import Look
from tests.labels import CONTINUE
from tests.pages.visits import bring, drop, press

pytestmark = pytest.mark.in_earnest


def here(*_: object) -> NoReturn:
    raise AssertionError("this was done in the process that draws pages")


def test_files_are_guessed_and_loaded_elsewhere(page, example, monkeypatch) -> None:
    monkeypatch.setattr(Look, "__init__", here)
    monkeypatch.setattr(load, "read_votes", here)
    bring(page, "annotations.csv", example["annotations.csv"])
    drop(page, "raters.csv", example["raters.csv"])
    assert page.metric
    press(page, CONTINUE)
    assert not page.exception
