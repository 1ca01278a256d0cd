"""A question for the tests of the engine, and its answer without the clock."""

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest

from grasp_core.engine import verdict as findable
from grasp_core.engine.compute import compute
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.watching import Checkpoints, Watcher
from grasp_core.model.result import RunResult
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.sandbox.read import read_table
from tests.permutation.simulated import DATA_SPEC, dataset, files, simulate

SHAPE = {"items": 30, "missing": 0.2, "unknown": 0.05}
DATA = dataset(1, **SHAPE)
AXES = (("gender",), ("race",), ("gender", "race"))
ENDLESS = 2_000_000
"""More permutations than any test waits for."""
LONG_S = 250
"""Seconds after which something counts as hanging; nothing here is a measurement."""


SLICED_SPEC = replace(DATA_SPEC, items_id="id")
"""Reads the data of :func:`sliced_files`."""


def sliced_files() -> tuple[bytes, bytes, bytes]:
    """Annotations, raters, and an items file with one of two topics for each item but the first."""
    annotations, raters = simulate(1, **SHAPE)
    topics = [f"{item},{('', 'art', 'news')[n and 1 + n % 2]}" for n, item in enumerate(annotations.item_ids)]
    return (*files(annotations, raters), "\n".join(["id,topic", *topics]).encode())


def sliced_question() -> tuple[Dataset, RunSpec]:
    """Those data, and a question about their topics."""
    names = ("votes.csv", "raters.csv", "items.csv")
    votes, raters, items = map(read_table, sliced_files(), names)
    data = load(votes, raters, SLICED_SPEC, ("gender", "race"), items=items, slices=("topic",))
    analysis = AnalysisSpec(axes=AXES, permutations=300, slices=("topic",))
    return data, RunSpec(SLICED_SPEC, analysis)


def sliced_answer() -> dict:
    """What is found of them, without the clock."""
    return answer_of(*sliced_question())


def question(**analysis) -> RunSpec:
    return RunSpec(DATA_SPEC, AnalysisSpec(**{"axes": AXES, "permutations": 1000, **analysis}))


def digits(result: RunResult) -> dict:
    """Everything but the clock."""
    plain = result.to_dict()
    del plain["timing"]
    return plain


def answer(
    make_executor=workers.threads, n_workers: int = 2, checkpoints: Checkpoints | None = None, **analysis
) -> dict:
    return answer_of(DATA, question(**analysis), make_executor, n_workers, checkpoints)


@functools.cache
def known_answer(**analysis) -> dict:
    """As :func:`answer`, computed once."""
    return answer(**analysis)


def answer_of(
    data: Dataset, spec: RunSpec, make_executor=workers.threads, n_workers: int = 2, checkpoints=None
) -> dict:
    """What is found of a data set, without the clock."""
    with closing(Pool(make_executor, n_workers)) as pool:
        return digits(compute(data, spec, pool, Watcher(), checkpoints))


@contextmanager
def nothing_planted() -> Iterator[None]:
    """Within, runs do not say what could have been found, which takes longer than all else of small data."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(findable, "MOST_ANNOTATIONS", 0)
        yield


def wait_until(reached: Callable[[], object]) -> None:
    deadline = time.monotonic() + LONG_S
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture(scope="module", autouse=True)
def planting() -> Iterator[None]:
    """None, where a conftest.py imports this: tests of what could have been found have it."""
    with nothing_planted():
        yield
