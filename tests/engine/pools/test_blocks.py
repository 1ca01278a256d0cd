"""Cutting permutations into blocks."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from grasp_core.engine.pools.schedule import BLOCK_SECONDS, FIRST_BLOCK, FIRST_LABELS, GROWTH, Blocks


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
