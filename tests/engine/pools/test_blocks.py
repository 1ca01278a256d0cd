"""Cutting permutations into blocks, and whose block is next."""

import itertools
from collections import Counter
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grasp_core.engine.pools.schedule import (
    BLOCK_SECONDS,
    FIRST_BLOCK,
    FIRST_LABELS,
    GROWTH,
    LONGEST_EVERY,
    Blocks,
    BlockTurns,
    Share,
)
from grasp_core.engine.pools.workers import Computed


@settings(deadline=None)
@given(total=st.integers(1, 3000), returned=st.sets(st.integers(0, 20)))
def test_blocks_cover_every_permutation_once(total: int, returned: set[int]) -> None:
    """Even if some blocks come back uncomputed."""
    blocks, computed, taken, progress = Blocks(total), [], 0, []
    while block := blocks.take():
        taken += 1
        if taken in returned:
            blocks.give_back(block)
            continue
        computed += range(*block)
        blocks.finish(block, 0.1)
        progress.append(blocks.progress)
    assert sorted(computed) == list(range(total))
    done = [step.done for step in progress]
    assert done == sorted(done)
    assert done[-1] == total
    assert all(step.total == total for step in progress)
    assert progress[0].seconds_left is None
    assert all(step.seconds_left is None or step.seconds_left >= 0 for step in progress)
    assert progress[-1].seconds_left in (None, 0)


@settings(deadline=None)
@given(cuts=st.lists(st.integers(0, 200), min_size=2, max_size=12, unique=True), keep=st.randoms())
def test_blocks_that_were_computed_before_are_not_computed_again(cuts: list[int], keep) -> None:
    ends = sorted(cuts)
    computed = [block for block in itertools.pairwise(ends) if keep.random() < 0.5]
    blocks = Blocks(ends[-1], computed)
    before = [b for block in computed for b in range(*block)]
    assert blocks.progress.done == len(before)
    after: list[int] = []
    while block := blocks.take():
        after += range(*block)
        blocks.finish(block, 0.1)
    assert sorted(before + after) == list(range(ends[-1]))
    assert blocks.progress.done == blocks.progress.total == ends[-1]


@settings(deadline=None)
@given(
    total=st.integers(1, 100_000),
    ends=st.lists(st.sampled_from([0.0, 1e-9, 1e-4, 0.1, 30.0]), min_size=1, max_size=40),
)
def test_a_block_is_never_much_larger_than_those_before_it(total: int, ends: list[float]) -> None:
    """Whatever the clock says: a block may seem to take no time, and so to be infinitely fast."""
    largest = FIRST_BLOCK
    steps = itertools.cycle(ends)
    blocks = Blocks(total)
    for _ in range(200):
        taken = [block for block in (blocks.take(), blocks.take()) if block]
        for start, stop in taken:
            assert stop - start <= max(GROWTH * largest, FIRST_BLOCK)
        for block in taken:
            blocks.finish(block, next(steps))
            largest = max(largest, block[1] - block[0])


def test_on_a_busy_machine_blocks_stay_large_enough_to_be_worth_their_tables() -> None:
    """Else one permutation, which takes as long as hundreds, would seem to be the right size."""
    labels, sizes = 36_400, []
    blocks = Blocks(10_000, labels=labels)
    while block := blocks.take():
        blocks.finish(block, 5.0)
        sizes.append(block[1] - block[0])
    assert len(sizes) > 10
    assert min(sizes[:-1]) == FIRST_LABELS // labels


def test_a_block_is_as_long_as_aimed_at_however_many_runs_share_the_workers() -> None:
    """What is done for each block beside would else grow with the runs."""
    each, sizes = BLOCK_SECONDS / 512, []
    blocks = Blocks(20_000, labels=FIRST_LABELS)
    while block := blocks.take():
        size = block[1] - block[0]
        blocks.finish(block, each * size)
        sizes.append(size)
    assert set(sizes[4:-1]) == {512}


class Workers:
    """Blocks under way, by the name of their stage; a test ends them one by one."""

    def __init__(self, places: int) -> None:
        self.turns = BlockTurns(ThreadPoolExecutor())
        self.places = places
        self.under_way: list[tuple[str, Future[Computed]]] = []
        self.begun = Counter[str]()

    def ask(self, name: str, share: Share, n: int) -> list[Future[Computed]]:
        return [self.turns.submit(share, self.places, partial(self._begin, name)) for _ in range(n)]

    def end_first(self, seconds: float = 1.0) -> None:
        _, future = self.under_way.pop(0)
        future.set_result(Computed(np.zeros((1, 1, 1)), seconds))

    def _begin(self, name: str) -> Future[Computed]:
        future: Future[Computed] = Future()
        self.under_way.append((name, future))
        self.begun[name] += 1
        return future


def test_a_short_stage_does_not_wait_for_a_round_of_long_ones() -> None:
    workers, long, short = Workers(2), [Share(seconds=100.0) for _ in range(3)], Share()
    for number, share in enumerate(long):
        workers.ask(f"long {number}", share, 8)
    asked = workers.ask("short", short, 6)
    ends = 0
    while not all(future.done() for future in asked):
        workers.end_first(0.2)
        ends += 1
    assert ends <= 2 + 6 * LONGEST_EVERY / (LONGEST_EVERY - 1) + 1
    assert short.seconds == pytest.approx(6 * 0.2)


def test_long_stages_have_as_much_as_one_another_and_no_stream_of_short_ones_stops_them() -> None:
    workers, long = Workers(2), {name: Share() for name in ("a", "b")}
    for name, share in long.items():
        workers.ask(name, share, 200)
    for _ in range(100):
        workers.end_first(0.1 if workers.under_way[0][0] == "a" else 0.3)
    assert long["a"].seconds == pytest.approx(long["b"].seconds, rel=0.3)
    workers.begun.clear()
    for _ in range(40):
        asked = workers.ask("short", Share(), 5)
        while not all(future.done() for future in asked):
            workers.end_first()
    assert workers.begun["short"] == 200
    assert workers.begun["a"] + workers.begun["b"] >= 200 / LONGEST_EVERY


def test_at_most_as_many_are_under_way_as_there_are_places() -> None:
    workers = Workers(3)
    asked = [future for n in range(4) for future in workers.ask(str(n), Share(), 5)]
    while not all(future.done() for future in asked):
        assert len(workers.under_way) == min(3, sum(not future.done() for future in asked))
        workers.end_first()


def test_whoever_waits_learns_how_its_block_ended() -> None:
    """And a block that was given up while it waited is never begun."""
    workers, share = Workers(1), Share()

    def refuse() -> Future[Computed]:
        raise BrokenProcessPool("a process ended")

    first, given_up, then = workers.ask("a", share, 3)
    refused = workers.turns.submit(share, 1, refuse)
    last = workers.ask("a", share, 2)
    assert given_up.cancel()
    workers.end_first()
    assert first.result().seconds == 1.0
    workers.under_way.pop()[1].set_exception(MemoryError())
    assert isinstance(then.exception(), MemoryError)
    assert isinstance(refused.exception(), BrokenProcessPool)
    workers.under_way.pop()[1].cancel()
    with pytest.raises(CancelledError):
        last[0].result()
    workers.end_first()
    assert last[1].result().seconds == 1.0
    assert workers.begun["a"] == 4
