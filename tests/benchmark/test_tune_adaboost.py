"""AdaBoost's settings by leave-one-out: scored as a baseline with that setting is, and gone on with."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from grasp_core.benchmark.baselines.classical import Boosting, fit_adaboost
from grasp_core.benchmark.scoring import evaluate as boosting
from grasp_core.benchmark.scoring.evaluate import (
    boosting_grid,
    boosting_sweeps,
    evaluate,
    kept_trials,
    tune_boosting,
)
from grasp_core.cli import main
from grasp_core.model.errors import DataError
from tests.benchmark.baseline_tasks import WEATHER, opened, weather

SETTINGS = (Boosting(10, 1, 1.0), Boosting(25, 1, 1.0), Boosting(10, 2, 0.3))


def test_a_trial_is_the_baseline_with_that_setting(tmp_path: Path) -> None:
    task, train = opened(weather(tmp_path))
    for trial in tune_boosting(train, task, SETTINGS, {}):
        alone = evaluate(partial(fit_adaboost, setting=trial.setting), train, task)
        assert trial.score == pytest.approx(alone.macro_f1_declared, abs=1e-12)


def test_the_best_stands_first_and_of_equal_ones_the_cheapest(tmp_path: Path) -> None:
    task, train = opened(weather(tmp_path))
    found = tune_boosting(train, task, SETTINGS, {})
    assert found == sorted(found, key=lambda one: (-one.score, one.setting.trees, one.setting.depth))


def test_a_search_goes_on_where_it_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task, train = opened(weather(tmp_path))
    path = tmp_path / "trials.jsonl"

    class EndedError(Exception):
        pass

    def watch(done: int, total: int) -> None:
        assert total == 2 * len(WEATHER)
        if done == 4:
            raise EndedError

    with pytest.raises(EndedError):
        tune_boosting(train, task, SETTINGS, kept_trials(path), watch=watch)
    kept = kept_trials(path)
    assert len(kept) == 4
    whole = tune_boosting(train, task, SETTINGS, kept)
    assert whole == tune_boosting(train, task, SETTINGS, {})
    monkeypatch.setattr(boosting, "fit_staged", lambda *_: pytest.fail("grown again"))
    assert tune_boosting(train, task, SETTINGS, kept_trials(path)) == whole


def test_the_papers_order_and_all_settings() -> None:
    assert len(set(boosting_grid())) == 5 * 5 * 4
    published = Boosting(100, 3, 1.0)
    for varied, settings in boosting_sweeps():
        assert published in settings
        field = varied.replace(" ", "_")
        assert len({getattr(one, field) for one in settings}) == len(settings)


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(boosting, "TREES", (2, 100))
    for name in ("one", "two"):
        weather(tmp_path / "raft" / name, WEATHER[:4])
    assert main(["raft", "tune", "adaboost", "--all", "--sweeps"]) == 0
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert [line for line in lines if line.endswith(":")] == [
        *("one:", "learning rate:", "depth:", "trees:"),
        *("two:", "learning rate:", "depth:", "trees:"),
    ]
    assert "trials are kept in adaboost-trials.jsonl and are not made again" in shown.err
    assert (tmp_path / "adaboost-trials.jsonl").is_file()


def test_one_row_is_too_few(tmp_path: Path) -> None:
    task, train = opened(weather(tmp_path, WEATHER[:1]))
    with pytest.raises(DataError, match="has one labelled row"):
        tune_boosting(train, task, SETTINGS, {})
