"""The process that serves neither guesses nor loads what strangers bring."""

from typing import NoReturn

import pytest
from fastapi.testclient import TestClient

from grasp_core.reading.dataset.filters import FilteredVotes
from grasp_core.reading.guess.look import Look
from tests.server.api.asking import spec, upload

pytestmark = pytest.mark.in_earnest


def here(*_: object) -> NoReturn:
    raise AssertionError("this was done in the process that serves")


def test_what_strangers_bring_is_neither_guessed_nor_loaded_here(ann: TestClient, monkeypatch) -> None:
    monkeypatch.setattr(Look, "__init__", here)
    monkeypatch.setattr(FilteredVotes, "__init__", here)
    body = {"spec": spec(), "files": upload(ann)}
    for path in ("validate", "quality", "runs"):
        answer = ann.post(f"/api/v1/{path}", json=body)
        assert answer.is_success, answer.text
