"""A new question costs one module: `label_use.py` goes through the engine as it is."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from grasp_core.engine.compute import permute
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.watching import Checkpoints, Watcher
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation.testing.corrections import q_values
from grasp_core.permutation.testing.outcomes import outcomes
from grasp_core.permutation.testing.p_values import tails
from grasp_core.permutation.testing.tally import Tally
from tests.analysis.label_use import LabelUse
from tests.permutation.simulated import dataset

PLAIN = dataset(1, items=30, raters=40)
WOMAN = PLAIN.raters.axes["gender"].values.index("Woman")
women = PLAIN.raters.axes["gender"].codes[PLAIN.annotations.rater] == WOMAN
turned = np.where(women & (PLAIN.annotations.item < 15), 2, PLAIN.annotations.category)
DATA = replace(PLAIN, annotations=replace(PLAIN.annotations, category=turned.astype(np.int32)))
"""Women give the last label to every other item."""
ASKED = AnalysisSpec(axes=(("gender",), ("race",)), permutations=1000)


def panel(analysis: AnalysisSpec = ASKED) -> LabelUse:
    return LabelUse(DATA, form_groups(DATA.raters, analysis.axes), analysis)


def compute(
    make_executor=workers.threads, checkpoints: Checkpoints | None = None, **analysis: object
) -> Tally:
    asked = replace(ASKED, **analysis)
    with closing(Pool(make_executor, 2)) as pool:
        return permute(panel(asked), asked, pool, Watcher(), checkpoints)


def values(tally: Tally) -> np.ndarray:
    return tally.null.values


@pytest.fixture(scope="module")
def null() -> np.ndarray:
    """One block of permutations, computed here."""
    work = panel().work(np.ones(5, np.bool_))
    return work.shuffled(ASKED.seed, 0, ASKED.permutations).reshape(ASKED.permutations, -1)


@pytest.mark.parametrize(
    "make_executor", [workers.threads, pytest.param(workers.processes, marks=pytest.mark.long)]
)
def test_threads_and_processes_compute_it(make_executor, null: np.ndarray) -> None:
    np.testing.assert_array_equal(values(compute(make_executor)), null)


def test_it_has_p_and_q(null: np.ndarray) -> None:
    asked, tally = panel(), compute()
    found = outcomes(asked.tests, asked.observed, tally.null, {})
    for of_label in range(3):
        columns = range(of_label, 15, 3)
        p = [tails(float(asked.observed[c]), null[:, c]).p("two-sided") for c in columns]
        assert [found[c].p for c in columns] == p
        assert [found[c].q for c in columns] == q_values(p, np.empty(0), null, "benjamini-hochberg")
    marked = [c for c, outcome in found.items() if outcome.significance == "corrected"]
    assert {(c // 3, found[c].direction) for c in marked if c % 3 == 2} == {(0, "down"), (1, "up")}


def test_it_goes_on_from_the_blocks_of_an_earlier_attempt(null: np.ndarray) -> None:
    class Before(Checkpoints):
        computed_now = 0

        def computed_before(self, width: int) -> list[tuple[int, np.ndarray]]:
            assert width == 15
            return [(0, null[:300].copy()), (500, null[500:900].copy())]

        def computed(self, start: int, values: np.ndarray) -> None:
            self.computed_now += len(values)

    before = Before()
    np.testing.assert_array_equal(values(compute(checkpoints=before)), null)
    assert before.computed_now == 300


@pytest.mark.long
def test_it_stops_early_group_by_group() -> None:
    """Groups whose marks are settled take no further permutations; the marks are those of all of them."""
    early, whole = (compute(permutations=20_000, adaptive=adaptive) for adaptive in (True, False))
    asked = panel()
    marks = [outcomes(asked.tests, asked.observed, tally.null, {}) for tally in (early, whole)]
    settled = [c for c in range(15) if not early.active[c // 3]]
    assert len(settled) > 3
    assert [marks[0][c].significance for c in settled] == [marks[1][c].significance for c in settled]
    assert min(marks[0][c].null_n for c in settled) < 20_000
