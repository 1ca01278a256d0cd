"""Files of results on a server: made elsewhere, within limits, once."""

import threading

import altair as alt
import pytest

from grasp_core.model.errors import LimitError
from grasp_core.report.charts.maps import cohesion_map
from grasp_core.report.charts.theme import IMAGES
from grasp_core.report.writers import cache
from grasp_core.report.writers.cache import ExportCache
from grasp_core.report.writers.registry import EXPORTS, ResultExport
from tests.results import make_result

pytestmark = pytest.mark.in_earnest
RESULT = make_result(make_result().groups[3:6])


@pytest.mark.parametrize("name", EXPORTS)
def test_the_file_is_the_one_that_would_be_made_here(name: str) -> None:
    assert ExportCache().make(EXPORTS[name], RESULT) == EXPORTS[name].make(RESULT)


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_a_figure_is_the_one_that_would_be_drawn_here(kind: str) -> None:
    chart = cohesion_map(RESULT)
    made = ExportCache().draw(chart, kind)
    if kind == "pdf":  # which tells when it was made
        assert made.startswith(b"%PDF")
    else:
        assert made == IMAGES[f".{kind}"](chart)


def test_a_file_is_made_once_however_many_ask_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    made, begun = [], threading.Event()

    def written(_work: object, given: dict[str, object], _label: str) -> bytes:
        made.append(given["name"])
        begun.wait(20)
        return b"a report"

    monkeypatch.setattr(cache, "_made", written)
    exports, found = ExportCache(), []
    threads = [
        threading.Thread(target=lambda: found.append(exports.make(EXPORTS["html"], RESULT)), daemon=True)
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    threading.Event().wait(0.5)  # for the other one to come that far, too
    begun.set()
    for thread in threads:
        thread.join(20)
    assert found == [b"a report"] * 2
    assert exports.make(EXPORTS["html"], RESULT) == b"a report"
    assert len(made) == 1


def test_a_file_counts_once_even_if_it_is_kept_under_its_run_and_its_content(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(cache, "_MOST_BYTES", 25)
    exports = ExportCache()

    def file(run: str) -> bytes:
        def make() -> bytes:
            asked.append(run)
            return exports.once(f"content of {run}", lambda: f"{run:10}".encode())

        return exports.once(run, make)

    for run in ("a", "b", "a", "b"):
        assert file(run) == f"{run:10}".encode()
    assert asked == ["a", "b"]
    file("c")  # a third one has no room beside them
    file("a")
    assert asked == ["a", "b", "c", "a"]


def test_a_file_that_takes_more_than_the_limits_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRASP_READ_SECONDS", "1")
    many = alt.Chart({"values": [{"x": place} for place in range(200_000)]})  # takes more than 10 s
    with pytest.raises(LimitError):
        ExportCache().draw(alt.layer(many.mark_point().encode(x="x:Q")), "png")


def test_nothing_is_made_in_the_process_that_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    def here(*_: object) -> bytes:
        raise AssertionError("this was made in the process that serves")

    monkeypatch.setattr(ResultExport, "make", here)
    assert ExportCache().make(EXPORTS["markdown"], RESULT)
