"""Results while permutations go on: observed values at once, then p and q with intervals."""

import json
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom
from sqlalchemy import URL

from grasp_core.analysis.results import read_result
from grasp_core.engine import watching as provisional_module
from grasp_core.engine.pools.schedule import Progress
from grasp_core.engine.saved_runs import Conductor
from grasp_core.engine.service import Service
from grasp_core.engine.time_left import PAIRS, Course, OnCourse, Stage
from grasp_core.engine.watching import Showing, Watcher
from grasp_core.model.errors import DataError, RunCancelledError
from grasp_core.model.outcome import Outcome
from grasp_core.model.result import Result, RunResult
from grasp_core.permutation.testing.tally import Tally
from tests.computing import Noted, compute_in_threads
from tests.engine import models_asking
from tests.engine.asking import DATA, ENDLESS, question, wait_until
from tests.engine.serving import ask, ended, in_progress, serving


class Clock:
    """A clock that stands still."""

    seconds = 0.0


@pytest.fixture(autouse=True)
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block is shown, however fast the permutations are."""
    monkeypatch.setattr(provisional_module, "EVERY_SECONDS", 0.0)
    monkeypatch.setattr(provisional_module, "SHARE", 0)


def outcomes(result: RunResult) -> list[Outcome]:
    of_groups = [outcome for row in result.groups for outcome in row.statistics.values()]
    return of_groups + [row.outcome for row in result.dsi]


@pytest.fixture(scope="module", params=["benjamini-hochberg", "benjamini-yekutieli", "max-t"])
def run(request: pytest.FixtureRequest) -> tuple[list[RunResult], RunResult]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(provisional_module, "EVERY_SECONDS", 0.0)
        patched.setattr(provisional_module, "SHARE", 0)
        noted = Noted()
        spec = question(permutations=12_000, correction=request.param)  # counted at the end
        final = compute_in_threads(DATA, spec, noted)
    return noted.shown, final


def test_observed_values_are_there_before_the_first_permutation(run: tuple) -> None:
    shown, final = run
    first = shown[0]
    assert first.provisional
    assert first.permutations == first.permutations_done == 0
    assert [one.value for one in outcomes(first)] == [one.value for one in outcomes(final)]
    assert {(one.p, one.q, one.significance, one.null) for one in outcomes(first)} == {
        (None, None, "none", None)
    }
    missing = [one.reason for one in outcomes(first) if one.reason is not None]
    assert missing == [one.reason for one in outcomes(final) if one.value is None]


def test_p_and_q_lie_in_their_intervals_which_close_in(run: tuple) -> None:
    shown, final = run
    assert [one.permutations for one in shown] == sorted({one.permutations for one in shown})
    early, late = next(one for one in shown if one.permutations >= 100), shown[-1]
    assert early.permutations < late.permutations
    for result in (early, late):
        for one in outcomes(result):
            if one.p is not None:
                assert one.p_interval[0] <= one.p <= one.p_interval[1]
                assert one.q_interval[0] - 1e-12 <= one.q <= one.q_interval[1] + 1e-12
    for before, after in zip(outcomes(early), outcomes(late), strict=True):
        if before.p_interval and 0.001 < after.p < 0.5:
            assert after.p_interval[1] - after.p_interval[0] < before.p_interval[1] - before.p_interval[0]
    assert not final.provisional
    assert {(one.p_interval, one.q_interval) for one in outcomes(final)} == {(None, None)}


def test_an_interval_holds_the_final_p_as_often_as_it_says(run: tuple) -> None:
    """Tests share permutations, so that misses come together: half as often again is allowed for."""
    shown, final = run
    early = next(one for one in shown if one.permutations >= 100)
    pairs = [
        (one.p_interval, other.p)
        for one, other in zip(outcomes(early), outcomes(final), strict=True)
        if one.p_interval is not None
    ]
    inside = sum(low <= p <= high for (low, high), p in pairs)
    assert len(pairs) > 50
    assert inside / len(pairs) >= 0.925


def test_the_interval_of_p_is_that_of_clopper_and_pearson(run: tuple) -> None:
    """Of the smaller tail, doubled: its ends are shares under which so few or so many are too unlikely."""
    of_groups = [
        one
        for row in run[0][-1].groups
        for name, one in row.statistics.items()
        if one.p is not None and name != "distance"  # of which only large values count
    ]
    below_1 = [one for one in of_groups if one.p_interval[1] < 1]
    assert len(below_1) > 10
    for one in below_1:
        count = round(one.p * (one.null_n + 1) / 2) - 1
        low, high = (end / 2 for end in one.p_interval)
        assert binom.cdf(count, one.null_n, high) == pytest.approx(0.05 / 3, rel=1e-6)
        assert count == 0 or binom.sf(count - 1, one.null_n, low) == pytest.approx(0.05 / 3, rel=1e-6)


def test_blocks_behind_a_gap_are_not_counted() -> None:
    tally = Tally(np.zeros(1), np.ones((1, 1), np.bool_), 300)
    tally.add(100, np.ones((100, 1)))
    assert tally.in_null == 0
    assert tally.null.tails(0).n == 0
    tally.add(0, np.ones((100, 1)))
    assert tally.in_null == tally.null.tails(0).n == 200


def test_nothing_is_made_for_a_watcher_who_does_not_look() -> None:
    class Elsewhere(Noted):
        @property
        def looks_on(self) -> bool:
            return False

    elsewhere = Elsewhere()
    assert compute_in_threads(DATA, question(permutations=300, pairs=True), elsewhere)
    assert elsewhere.shown == []


def test_models_are_shown_so_too() -> None:
    class Enough(Noted):
        def check(self, progress: Progress) -> None:
            if self.shown and self.shown[-1].permutations >= 200:  # none while it is prepared
                raise RunCancelledError

    seen = Enough()
    with pytest.raises(RunCancelledError):
        compute_in_threads(models_asking.DATA, models_asking.question(permutations=ENDLESS), seen)
    assert seen.shown[0].permutations == 0
    sides = [side for row in seen.shown[-1].groups for side in row.models.values()]
    intervals = [one.p_interval for side in sides for one in side.statistics.values() if one.p is not None]
    assert intervals
    assert None not in intervals


def test_its_file_form_says_so_and_is_refused_as_a_result(run: tuple) -> None:
    provisional = run[0][-1]
    plain = json.loads(json.dumps(provisional.to_dict()))
    assert plain["permutations_done"] == provisional.permutations
    assert read_result(plain, final=False) == provisional
    with pytest.raises(DataError, match=r"is provisional, after .* permutations of a run"):
        read_result(plain)
    assert "permutations_done" not in run[1].to_dict()


def test_whoever_waits_sees_the_first_result_and_then_the_end(service: Service) -> None:
    record = ask(service, permutations=ENDLESS)
    service.wait(record.id, 200)
    first = service.provisional(record.id)
    assert first.provisional
    wait_until(lambda: service.provisional(record.id).permutations >= 100)
    service.cancel(record.id)
    ended(service, record)
    wait_until(lambda: service.provisional(record.id) is None)
    assert service.runs.result(record.id) is None
    service.wait("no such run", 200)


def test_another_server_sees_it_too(monkeypatch: pytest.MonkeyPatch, service: Service, url: URL) -> None:
    monkeypatch.setattr("grasp_core.engine.saved_runs.SAVE_SECONDS", 0.0)
    record = ask(service, permutations=ENDLESS)
    in_progress(service, record)
    with serving(url, started=False) as other:
        wait_until(lambda: other.provisional(record.id) is not None)
        assert other.provisional(record.id).provisional
        service.cancel(record.id)
        ended(service, record)
        assert other.provisional(record.id) is None


@pytest.mark.parametrize(
    ("runs", "took", "seconds"),
    [
        (1, 0.02, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]),
        (4, 0.02, [0.0, 4.0, 8.0]),
        (1, 0.3, [0.0, 3.0, 6.0, 9.0]),  # a tenth of the time
        (3, 0.3, [0.0, 9.0]),
    ],
)
def test_runs_side_by_side_take_turns_in_showing_what_they_found(monkeypatch, runs, took, seconds) -> None:
    clock, shown = Clock(), []

    class OneOfSeveral(Watcher):
        side_by_side = runs

        def found(self, provisional: Result) -> None:
            shown.append(clock.seconds)
            clock.seconds += took

    monkeypatch.setattr(provisional_module, "EVERY_SECONDS", 1.0)
    monkeypatch.setattr(provisional_module, "SHARE", 10)
    monkeypatch.setattr(provisional_module.time, "perf_counter", lambda: clock.seconds)
    tally = SimpleNamespace(in_null=0)
    show = Showing(lambda *_: SimpleNamespace(), OneOfSeveral())
    for tenth in range(100):
        clock.seconds, tally.in_null = tenth / 10, tenth
        show(tally)
    assert shown == seconds


def test_a_server_counts_the_runs_that_it_computes(service: Service) -> None:
    hand = {"one": object(), "two": object()}
    record = ended(service, ask(service))
    conductor = Conductor(service.runs, record, 0, threading.Event(), service.closing, hand)
    assert OnCourse(conductor, Course([Stage(PAIRS, ((1.0, 0.0),))]), PAIRS).side_by_side == 2
    hand.clear()  # between being claimed and being put there
    assert conductor.side_by_side == 1
