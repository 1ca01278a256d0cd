from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.example import COHESIVE, example_spec
from grasp_core.result import RunResult
from grasp_core.server import Server
from tests.labels import TRY_EXAMPLE
from tests.pages.visits import on, press, seen, shown_run


def test_three_doors(page: AppTest) -> None:
    assert [header.value for header in page.header] == [
        TRY_EXAMPLE,
        "Bring your data",
        "Open a saved result",
    ]
    assert "is it real?" in seen(page.markdown)


def test_example_is_loaded_for_the_other_screens(page: AppTest, server: Server) -> None:
    press(page, TRY_EXAMPLE)
    assert shown_run(page, server).spec == example_spec()
    page.switch_page("data.py").run()
    assert [metric.value for metric in page.metric] == ["350", "104", "36,400", "104"]


def test_saved_result_opens_as_it_was(page: AppTest, server: Server, example_result: RunResult) -> None:
    first = server.runs.add(example_result, title="A run", owner="")
    page.query_params["run"] = first.id
    title = seen(on(page, "results").title)
    page.query_params.clear()
    saved = json.dumps(example_result.to_dict()).encode()
    on(page, "start").file_uploader[0].set_value(("saved.json", saved, "application/json")).run()
    assert shown_run(page, server).id != first.id
    assert seen(page.title) == title
    assert COHESIVE.label in title
    assert not page.exception
    assert not page.error


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"{", "this is not JSON (line 1)"),
        (b"\xff\xfe\x00", "this is not JSON"),
        (b"[" * 100_000, "this is not JSON"),
        (b"[" + b"[]," * 2_000_000 + b"[]]", "more than 4,000,000 values"),
        (b" " * (50 * 2**20 + 1), "is larger than 50 MiB, the most that is read of a saved result"),
        (b'{"a": 1}', "not a GRASP result"),
        (b'{"format": "grasp-run", "version": 99}', "format version 99"),
        (b'{"format": "grasp-run", "version": 1}', "damaged"),
    ],
)
def test_bad_result_gets_a_sentence(page: AppTest, content: bytes, sentence: str) -> None:
    page.file_uploader[0].set_value(("my.json", content, "application/json")).run()
    assert sentence in seen(page.error)
    assert "my.json" in seen(page.error)
    assert not page.exception
