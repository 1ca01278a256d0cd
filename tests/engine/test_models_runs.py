"""Runs of models are computed as any other: queued, resumed, found again, by processes and on a cluster."""

import numpy as np
import pytest
from sqlalchemy import URL

from grasp_core.engine.pools import workers
from grasp_core.engine.service import Service
from grasp_core.model.access import EVERYTHING
from grasp_core.model.spec import SIDES
from grasp_core.store.runs import RunRecord
from tests.engine.asking import SHAPE
from tests.engine.models_asking import DATA, GIVEN, MODELS, answer, question
from tests.engine.serving import ended, result_digits, serving
from tests.permutation.simulated import files, simulate


def ask(service: Service, **analysis) -> RunRecord:
    """With its files, so that another server can answer it too."""
    for content in (*files(*simulate(1, **SHAPE)), *GIVEN.values()):
        service.files.put(content, owner="")
    return service.submit(DATA, question(**analysis), title="Models", reach=EVERYTHING)[0]


@pytest.fixture(scope="module")
def right() -> dict:
    return answer(workers.threads, 1)


def test_processes_give_the_digits_of_threads(right: dict) -> None:
    assert answer(workers.processes, 2) == right


def test_a_run_is_read_from_its_files_by_another_server(url: URL, right: dict) -> None:
    with serving(url, started=False) as first:
        record = ask(first)
        assert [name for name, _ in first.runs.files_of(record.id)] == ["votes.csv", "raters.csv", *GIVEN]
    with serving(url) as second:
        assert result_digits(second, record) == right


def test_a_run_whose_model_is_gone_says_so(url: URL) -> None:
    with serving(url, started=False) as first:
        record = ask(first)
        first.files.delete(MODELS[1].sha256, owner="")
    with serving(url) as second:
        failed = ended(second, record)
    assert str(failed.error).startswith("in turn.csv ")


def test_permutations_beyond_those_kept_are_counted(right: dict) -> None:
    """p and q are those of the values, and what chance gives lies in the same cell."""
    few, many = (answer(workers.threads, 2, permutations=b) for b in (10_000, 10_001))
    for row, other in zip(few["groups"], many["groups"], strict=True):
        for name, side in row["models"].items():
            for statistic in SIDES:
                a, b = side["statistics"][statistic], other["models"][name]["statistics"][statistic]
                assert a["value"] == b["value"]
                assert b["null_n"] == a["null_n"] + 1
                assert b["p"] == pytest.approx(a["p"], abs=3e-4)
                assert b["null_median"] == pytest.approx(a["null_median"], abs=0.02)


def test_a_run_that_stops_early_marks_as_one_that_does_not() -> None:
    early = answer(workers.threads, 2, permutations=20_000, adaptive=True)
    whole = answer(workers.threads, 2, permutations=20_000)
    assert early["stopping"]["permutations"] <= 20_000
    undecided = {
        (mark["model"], tuple(mark["group"].values()), mark["statistic"])
        for mark in early["stopping"]["undecided"]
    }
    compared = 0
    for row, other in zip(early["groups"], whole["groups"], strict=True):
        for name, side in row["models"].items():
            for statistic in SIDES:
                if (name, tuple(row["group"].values()), statistic) not in undecided:
                    marks = (side, other["models"][name])
                    found = {one["statistics"][statistic]["significance"] for one in marks}
                    assert len(found) == 1
                    compared += 1
    assert compared > 10
    assert np.isfinite(early["stopping"]["risk"])
