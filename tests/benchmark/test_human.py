"""Human baseline: what a few raters reach, against known answers and on real votes."""

from __future__ import annotations

import numpy as np
import pytest

from grasp_core.benchmark.scoring.human import human_baseline
from grasp_core.model.annotations import Annotations, Raters
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError, SpecError
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.sandbox.read import read_table
from tests.shared_data import SHARED, needs_shared_data

GOLD = {str(item): ("no", "yes")[item % 2] for item in range(200)}


def dataset(right: float, raters: int = 7, items: int = 200, seed: int = 1) -> Dataset:
    """Raters who are right with the same probability on every item, whose right labels alternate."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(items), raters)
    category = np.where(rng.random(item.size) < right, item % 2, 1 - item % 2)
    ids = tuple(map(str, range(raters)))
    annotations = Annotations.from_codes(
        item=item,
        rater=np.tile(np.arange(raters), items),
        category=category,
        item_ids=tuple(map(str, range(items))),
        rater_ids=ids,
        categories=("no", "yes"),
    )
    return Dataset(annotations, Raters(ids, {}), None, ())


def test_raters_who_are_always_right() -> None:
    found = human_baseline(dataset(1.0), votes=5, items=100, against=GOLD, repeats=3)
    assert (found.macro_f1, found.macro_f1_declared, found.mean, found.spread) == (1, 1, 1, 0)
    assert found.ci95 == (1, 1)
    assert (found.n, found.votes, found.eligible, found.against) == (100, 5, 200, "gold")


def test_the_plurality_of_a_few_is_right_as_often_as_the_binomial_says() -> None:
    """With 3 votes that are right with probability 0.7: 0.7^3 + 3 * 0.7^2 * 0.3 = 0.784."""
    means = [
        human_baseline(
            dataset(0.7, raters=3, seed=seed), votes=3, items=200, against=GOLD, repeats=1, resamples=10
        ).mean
        for seed in range(60)
    ]
    # 12,000 items: the standard error is 0.004.
    assert np.mean(means) == pytest.approx(0.784, abs=0.015)


def test_ties_are_broken_evenly() -> None:
    """Two votes, right with probability 0.7: 0.49 + 0.42 / 2 = 0.7, as with one vote."""
    found = human_baseline(
        dataset(0.7, raters=30), votes=2, items=200, against=GOLD, repeats=200, resamples=10
    )
    # 40,000 draws from 6,000 annotations, themselves right with a standard error of 0.006.
    assert found.mean == pytest.approx(0.7, abs=0.02)


def test_votes_are_drawn_among_all_raters_and_held_out_ones_are_others() -> None:
    """Six raters who are right and one who never is: alone against the plurality of the six others."""
    data = dataset(1.0)
    wrong = data.annotations.category.copy()
    wrong[data.annotations.rater == 0] ^= 1
    a = data.annotations
    changed = Annotations(a.item_ids, a.rater_ids, a.categories, a.indptr, a.rater, wrong)
    found = human_baseline(
        Dataset(changed, data.raters, None, ()), votes=1, items=200, repeats=100, resamples=10
    )
    assert found.against == "held-out raters"
    # Whoever is drawn is right against the others with probability 6/7; 20,000 draws.
    assert found.mean == pytest.approx(6 / 7, abs=0.01)


def test_the_interval_and_the_spread_tell_of_the_same_uncertainty() -> None:
    """Items are drawn from 2,000, so draws hardly share any: the spread is a quarter of the interval."""
    many = {str(item): ("no", "yes")[item % 2] for item in range(2_000)}
    found = human_baseline(dataset(0.7, items=2_000), votes=3, items=100, against=many, repeats=300)
    width = found.ci95[1] - found.ci95[0]
    assert width == pytest.approx(4 * found.spread, rel=0.3)


def test_draws_depend_on_the_seed_and_not_on_how_many_follow() -> None:
    data = dataset(0.6)
    one = human_baseline(data, votes=3, items=50, repeats=1, seed=4)
    many = human_baseline(data, votes=3, items=50, repeats=9, seed=4)
    assert (one.macro_f1, one.ci95) == (many.macro_f1, many.ci95)
    assert np.isnan(one.spread)
    assert human_baseline(data, votes=3, items=50, repeats=9, seed=4) == many
    assert human_baseline(data, votes=3, items=50, repeats=9, seed=5).mean != many.mean


def test_gold_of_some_items_only() -> None:
    some = {item: label for item, label in GOLD.items() if int(item) < 40}
    assert human_baseline(dataset(0.9), votes=5, items=40, against=some, repeats=1).eligible == 40


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"votes": 7}, r"0 items of 200 have 8 or more annotations \(one is held out\), but 100 are"),
        ({"votes": 8, "against": GOLD}, "0 items of 200 have 8 or more annotations and a right label"),
        ({"items": 201}, "200 items of 200 have 6 or more annotations"),
        ({"against": {"1": "maybe"}}, "1 right label of the items .*'maybe'"),
    ],
)
def test_too_little_to_draw_from(asked: dict, said: str) -> None:
    with pytest.raises(DataError, match=said):
        human_baseline(dataset(0.9), **asked)


@pytest.mark.parametrize("name", ["votes", "items", "repeats"])
def test_numbers_that_cannot_be(name: str) -> None:
    with pytest.raises(SpecError, match=f"`{name}` must be 1 or more; found 0"):
        human_baseline(dataset(0.9), **{name: 0})
    with pytest.raises(SpecError, match="`seed`"):
        human_baseline(dataset(0.9), seed=-1)


@needs_shared_data
def test_real_votes() -> None:
    """ConvAbuse (Cercas Curry et al. 2021), 12,411 votes of trained annotators, who mostly agree."""
    table = read_table(SHARED / "data" / "convabuse" / "votes.csv")
    data = load(table, None, DataSpec("long", item="item", rater="annotator", label="label"))
    found = human_baseline(data, votes=2, items=100, seed=1)
    # Items with three votes or more, counted in the file with cut, sort and uniq.
    assert found.eligible == 2_445 + 377 + 235 + 33 + 1
    assert 0.7 < found.mean < 0.95
    assert found.ci95[0] < found.macro_f1 < found.ci95[1]
    # The plurality of four is closer to its gold labels, itself with all votes, than a single vote is.
    plurality = _plurality(data)
    four, one = (human_baseline(data, votes=k, items=100, against=plurality, repeats=30).mean for k in (4, 1))
    assert one < four


def _plurality(data: Dataset) -> dict[str, str]:
    a = data.annotations
    counts = np.zeros((a.n_items, a.n_categories), dtype=int)
    np.add.at(counts, (a.item, a.category), 1)
    return {one: a.categories[code] for one, code in zip(a.item_ids, counts.argmax(axis=1), strict=True)}
