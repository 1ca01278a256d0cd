import json

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.model.example import COHESIVE, example_spec
from grasp_core.model.groups import spoken
from grasp_core.model.result import RunResult
from grasp_core.server.server import Server
from pages._ui.data.files import DROP_LABEL
from tests.labels import TRY_EXAMPLE
from tests.pages.visits import on, plain, press, seen, shown_run
from tools import example_answer


@pytest.fixture
def page(page: AppTest) -> AppTest:
    """Start, as it is drawn first."""
    return page.run()


MARK = b'{"format": "grasp-run", "groups": '


def test_what_it_is_a_drop_zone_and_an_answer_in_small(page: AppTest) -> None:
    assert "sees it differently?" in seen(page.title)
    assert [zone.label for zone in page.file_uploader] == [DROP_LABEL]
    assert "Black Woman raters say “Yes” in 13 more of 100 answers than everybody else" in seen(page.header)
    assert page.get("vega_lite_chart")
    assert "Last runs" not in seen(page.header)


def test_the_answer_in_small_is_the_examples(example_result: RunResult) -> None:
    # Intervals are made by BLAS, which adds up in another order on other processors.
    text = example_answer.ANSWER.read_text(encoding="utf-8")
    told = json.loads(text, parse_float=lambda number: pytest.approx(float(number), rel=1e-9, abs=1e-12))
    computed = json.loads(json.dumps(example_answer.in_small(example_result).to_dict()))
    for one in (told, computed):
        del one["timing"], one["code_version"], one["spec"]["analysis"]["pairs"]
    assert told == computed, "write it anew: .venv/bin/python tools/example_answer.py"


def test_files_are_dropped_on_start(page: AppTest, example: dict[str, bytes]) -> None:
    files = [(name, content, "text/csv") for name, content in example.items()]
    page.file_uploader[0].set_value(files).run()
    on(page, "data")
    assert "3,640 answers to 35 items by 104 raters" in seen(page.title)


def test_the_last_runs_are_told_by_their_verdicts(page, server, example_result) -> None:
    server.runs.add(example_result, title="Toxicity, July", owner="")
    page.run()
    assert "Last runs" in seen(page.header)
    links = [link.proto.label for link in page.get("page_link")]
    assert any("13 more of 100 answers" in plain(label) for label in links)
    assert "Toxicity, July" in seen(page.caption)


@pytest.mark.usefixtures("nothing_computed")
def test_example_is_loaded_for_the_other_screens(page: AppTest, server: Server) -> None:
    press(page, TRY_EXAMPLE)
    assert shown_run(page, server).spec == example_spec()
    page.switch_page("data.py").run()
    assert "36,400 answers to 350 items by 104 raters" in seen(page.title)


def test_saved_result_opens_as_it_was(page: AppTest, server: Server, example_result: RunResult) -> None:
    first = server.runs.add(example_result, title="A run", owner="")
    page.query_params["run"] = first.id
    title = seen(on(page, "results").title)
    page.query_params.clear()
    saved = json.dumps(example_result.to_dict()).encode()
    on(page, "start").file_uploader[0].set_value([("saved.json", saved, "application/json")]).run()
    assert shown_run(page, server).id != first.id
    assert seen(page.title) == title
    assert spoken(COHESIVE) in title
    assert not page.exception
    assert not page.error


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (MARK, "this is not JSON (line 1)"),
        (MARK + b"\xff\xfe\x00", "this is not JSON"),
        (MARK + b"[" * 100_000, "this is not JSON"),
        (MARK + b"[" + b"[]," * 2_000_000 + b"[]]", "more than 4,000,000 values"),
        (MARK + b" " * (50 * 2**20), "is larger than 50 MiB, the most that is read of a saved result"),
        (b'{"format": "grasp-other", "a": 1}', "not a GRASP result"),
        (b'{"format": "grasp-run", "version": 99}', "format version 99"),
        (b'{"format": "grasp-run", "version": 1}', "damaged"),
    ],
)
def test_bad_result_gets_a_sentence(page: AppTest, content: bytes, sentence: str) -> None:
    page.file_uploader[0].set_value([("my.json", content, "application/json")]).run()
    assert sentence in seen(page.error)
    assert "my.json" in seen(page.error)
    assert not page.exception
