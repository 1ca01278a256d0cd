"""Which items carry a group's distance and label use: the compiled panel against its plain twin."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from grasp_core.analysis.items import design
from grasp_core.analysis.items.outcomes import ItemsResult
from grasp_core.analysis.items.panel import ItemsRequest, look_at_items
from grasp_core.model.data_spec import DataSpec, Question
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.groups import Group, form_groups
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.permutation.draw import exchange_of, permutation
from grasp_core.permutation.testing.corrections import q_values
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.statistics.items import count, distance_terms, label_use_terms, top_share, weights
from grasp_core.statistics.levels import category_values, squared_distances
from tests.permutation.simulated import DATA_SPEC, dataset
from tests.shared_data import needs_shared_data

BLACK = Group(("race",), ("Black",))
WOMAN_NORTH = Group(("gender", "region"), ("Woman", "N"))
MEASURES = ("distance", "label_use")


def look(data: Dataset, group: Group = BLACK, *, question: int = 0, **analysis: Any) -> ItemsResult:
    asked = AnalysisSpec(**{"axes": (group.axes,), "permutations": 150, **analysis})
    spec = RunSpec(DATA_SPEC, asked)
    return look_at_items(data, ItemsRequest(spec, group, asked.permutations, question), map)


SHAPES: dict[str, dict[str, Any]] = {
    "everybody rated everything": {},
    "few rated each": {"items": 30, "missing": 0.75},
    "values unknown": {"missing": 0.3, "unknown": 0.3},
    "many labels": {"categories": 9, "raters": 15, "missing": 0.2},
    "two labels": {"categories": 2, "missing": 0.4},
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("level", "group"), [("nominal", BLACK), ("ordinal", WOMAN_NORTH)], ids=["axis", "intersection"]
)
def test_panel_and_twin_agree(shape: str, level: str, group: Group) -> None:
    data = dataset(5, **SHAPES[shape])
    agree(data, group, level=level)


@pytest.mark.parametrize("level", ["interval", "ratio"])
def test_numbers_are_as_far_apart_as_their_level_says(level: str) -> None:
    data = dataset(5, categories=4, missing=0.3)
    numbers = dataclasses.replace(data.annotations, categories=("1", "2", "4", "8"))
    agree(dataclasses.replace(data, annotations=numbers), BLACK, level=level)


@pytest.mark.parametrize(
    ("seed", "missing", "asked"),
    [
        *((6, missing, {"correction": "benjamini-yekutieli"}) for missing in (0.0, 0.5)),
        *((6, missing, {"correction": "max-t"}) for missing in (0.0, 0.5)),
        (7, 0.2, {"strata": ("gender", "workload"), "seed": 3}),
        (7, 0.2, {"cluster": "gender", "seed": 3}),
    ],
    ids=str,
)
def test_every_correction_strata_and_clusters(seed: int, missing: float, asked: dict[str, Any]) -> None:
    agree(dataset(seed, missing=missing), BLACK, **asked)


def agree(data: Dataset, group: Group, **analysis: Any) -> None:
    found = look(data, group, **analysis)
    twin = Twin(data, found.spec.analysis, group)
    rows = {row.item: row for row in found.items}
    shared = ~np.isnan(twin.use[:, 0])
    assert [*rows] == [one for one, both in zip(data.annotations.item_ids, shared, strict=True) if both]
    assert [*found.label_use.values()] == pytest.approx(np.nansum(twin.use, axis=0), abs=1e-12)
    if found.distance is not None:
        assert found.distance == pytest.approx(np.nansum(twin.distance), abs=1e-12)
    for measure in MEASURES:
        p, q = twin.tests(measure)
        for i, item in enumerate(data.annotations.item_ids):
            if not shared[i]:
                continue
            part = rows[item].of(measure)
            value = twin.distance[i]
            if measure == "label_use":
                value = twin.use[i, data.annotations.categories.index(part.label)]
            if part is None:
                assert np.isnan(value)
                continue
            assert part.value == pytest.approx(value, abs=1e-12)
            assert (part.p, part.q) == (pytest.approx(p[i], abs=1e-12), pytest.approx(q[i], abs=1e-12))
            assert (part.reason is None) == (part.p is not None)
        compare_top(found, twin, measure)


def compare_top(found: ItemsResult, twin: Twin, measure: str) -> None:
    observed, shuffled = twin.shares(measure)
    top = found.spread[measure].top
    if top is None:
        assert np.isnan(observed)
        return
    assert top.share == pytest.approx(observed, abs=1e-12)
    if top.chance is not None:
        known = shuffled[~np.isnan(shuffled)]
        expected = np.quantile(known, [0.025, 0.5, 0.975])
        assert [top.low, top.chance, top.high] == pytest.approx(expected, abs=1e-12)


def test_furthest_label_is_the_one_that_lies_furthest() -> None:
    data = dataset(5, missing=0.3)
    found, twin = look(data), Twin(data, AnalysisSpec(axes=(BLACK.axes,), permutations=150), BLACK)
    _, scale = twin.standard_use()
    observed, _ = twin.deviations()
    for row, furthest in zip(found.items, observed, strict=True):
        k = data.annotations.categories.index(row.label_use.label)
        i = data.annotations.item_ids.index(row.item)
        term = row.label_use.value * weight(found)
        assert abs(term) / scale[i, k] == pytest.approx(furthest)


def test_labels_of_an_item_that_are_equally_far_off_are_tied() -> None:
    """Whatever the noise of their measured spread; p is 54 of 84, counted over all regroupings."""
    given = ("a", "c", "c", "b", "b", "b", "c", "c", "c")  # of three raters of the group, and six others
    spread = {label: np.sqrt(given.count(label) * (9 - given.count(label))) for label in "abc"}

    def off(three: tuple[int, ...]) -> float:
        return max(
            abs([given[j] for j in three].count(label) - given.count(label) / 3) / spread[label]
            for label in "abc"
        )

    every = [off(three) for three in itertools.combinations(range(9), 3)]
    exact = np.mean(np.array(every) >= off((0, 1, 2)) - 1e-12)
    assert exact == pytest.approx(54 / 84)
    rows = [f"i{i},r{j},{label},{'in' if j < 3 else 'out'}" for i in (0, 1) for j, label in enumerate(given)]
    table = read_table("\n".join(["item,rater,label,race", *rows]).encode(), "votes.csv")
    data = load(table, None, DATA_SPEC, ("race",))
    for seed in range(8):
        found = look(data, Group(("race",), ("in",)), permutations=1_000, seed=seed)
        for row in found.items:
            assert row.label_use.p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 1_000))
        assert len({row.label_use.label for row in found.items}) == 1


def sparse(seed: int, *, own: float = 0.5, items: int = 12, raters: int = 9, group: int = 3) -> Dataset:
    """Items rated by four to six raters each, whose labels have nothing to do with the raters.

    `own`: share of the odd items' raters that come from the group's own pool.
    """
    rng = np.random.default_rng(seed)
    load_of = np.exp(rng.standard_normal(raters))
    rows = ["item,rater,label"]
    for i in range(items):
        inside = np.arange(raters) < group
        weight = load_of * np.where(inside == bool(i % 2), own, 1 - own)
        for j in rng.choice(raters, rng.integers(4, 7), replace=False, p=weight / weight.sum()):
            rows.append(f"i{i},r{j},{'abc'[rng.integers(3)]}")
    return of_lines(rows, ["rater,side", *(f"r{j},{'xy'[j >= group]}" for j in range(raters))])


def exact(data: Dataset) -> dict[str, dict[str, float]]:
    """The exact p of each item, by counting over all regroupings, in loops of plain Python."""
    votes, side = data.annotations, data.raters.axes["side"]
    mine = tuple(np.flatnonzero(side.codes == side.values.index("x")).tolist())
    found: dict[str, dict[str, float]] = {measure: {} for measure in MEASURES}
    for i, name in enumerate(votes.item_ids):
        at = range(votes.indptr[i], votes.indptr[i + 1])
        given = [(int(votes.rater[a]), int(votes.category[a])) for a in at]
        labels = {label for _, label in given}

        def terms(inside: tuple[int, ...], given=given, labels=labels) -> tuple[float, float]:
            c = Counter(label for rater, label in given if rater in inside)
            d = Counter(label for rater, label in given if rater not in inside)
            n, m = c.total(), d.total()
            use = distance = float("nan")
            if n and m:
                use = max(
                    abs(c[k] * m - d[k] * n) / (n + m) / np.sqrt((c[k] + d[k]) * (n + m - c[k] - d[k]))
                    for k in labels
                )
            if n > 1 and m > 1:
                across = 1 - sum(c[k] * d[k] for k in labels) / (n * m)
                own = 1 - sum(c[k] * (c[k] - 1) for k in labels) / (n * (n - 1))
                other = 1 - sum(d[k] * (d[k] - 1) for k in labels) / (m * (m - 1))
                distance = n * m / (n + m) * (2 * across - own - other)
            return use, distance

        if len(labels) < 2:
            continue
        every = np.array(
            [terms(inside) for inside in itertools.combinations(range(votes.n_raters), len(mine))]
        )
        for measure, observed, null in zip(("label_use", "distance"), terms(mine), every.T, strict=True):
            known = null[~np.isnan(null)]
            if not np.isnan(observed):
                found[measure][name] = float(np.mean(known >= observed - 1e-12))
    return found


def test_p_in_sparse_data_is_that_of_all_regroupings() -> None:
    """A contribution in the data's own units depends on the item's own raters alone."""
    compared = 0
    for seed in range(3):
        data = sparse(seed)
        p_of = exact(data)
        found = look(data, Group(("side",), ("x",)), permutations=2_000, seed=seed)
        for row in found.items:
            for measure in MEASURES:
                part = row.of(measure)
                if part is None or part.p is None:
                    continue
                p, n = p_of[measure][row.item], 500  # permutations with a term, at least
                assert part.p == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / n) + 1 / n)
                compared += 1
    assert compared > 40


@pytest.mark.long
@pytest.mark.parametrize("own", [0.5, 0.8])
def test_sparse_items_without_a_difference_are_not_marked_more_often_than_p_says(own: float) -> None:
    """Also where each group rates a pool of its own: items then have other gaps than in permutations."""
    group = Group(("side",), ("x",))
    asked = {"items": 100, "raters": 40, "group": 20, "own": own}
    runs = [look(sparse(seed, **asked), group, permutations=400, seed=seed) for seed in range(40)]
    for measure in MEASURES:
        parts = [[row.of(measure) for row in run.items] for run in runs]
        p = [np.array([one.p for one in some if one and one.p is not None]) for some in parts]
        share = np.array([(one < 0.05).mean() for one in p])
        assert share.mean() <= 0.05 + 2 * share.std() / np.sqrt(share.size)


def weight(found: ItemsResult) -> float:
    sizes = [(sum(row.inside.values()), sum(row.outside.values())) for row in found.items]
    return sum(n * m / (n + m) for n, m in sizes)


def test_parts_add_up_and_both_sides_stand_beside_them() -> None:
    data = dataset(8, missing=0.3, unknown=0.2)
    found = look(data)
    assert sum(found.label_use.values()) == pytest.approx(0, abs=1e-12)
    assert sum(row.distance.value for row in found.items if row.distance) == pytest.approx(found.distance)
    twin = Twin(data, AnalysisSpec(axes=(BLACK.axes,), permutations=1), BLACK)
    for row in found.items:
        i = data.annotations.item_ids.index(row.item)
        assert row.inside.keys() == row.outside.keys()
        assert sum(row.inside.values()) == twin.c[i].sum()
        assert sum(row.outside.values()) == twin.d[i].sum()


def test_neither_workers_nor_batches_change_a_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    data, group = dataset(9, missing=0.4), BLACK
    spec = RunSpec(DATA_SPEC, AnalysisSpec(axes=(group.axes,), permutations=500, correction="max-t"))
    asked = ItemsRequest(spec, group, 500)
    monkeypatch.setattr(design, "_LONGEST", 100)
    one = look_at_items(data, asked, map)
    with ThreadPoolExecutor(3) as workers:
        assert look_at_items(data, asked, workers.map) == one
    monkeypatch.setattr(design, "_WIDEST", 9)
    other = look_at_items(data, asked, map)
    assert [row.label_use.p for row in other.items] == [row.label_use.p for row in one.items]
    assert other.spread["distance"].top.share == one.spread["distance"].top.share


def test_progress_is_told_and_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(design, "_LONGEST", 100)
    asked = ItemsRequest(RunSpec(DATA_SPEC, AnalysisSpec(axes=(BLACK.axes,))), BLACK, 250)
    told: list[float] = []
    look_at_items(dataset(9), asked, map, told.append)
    assert told == pytest.approx([1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 1])

    def stop(_share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        look_at_items(dataset(9), asked, map, stop)


def of_lines(rows: list[str], profiles: list[str], spec: DataSpec = DATA_SPEC) -> Dataset:
    """The data set of a file of annotations and one of raters, whose axis is their side."""
    annotations, raters = ("\n".join(lines).encode() for lines in (rows, profiles))
    return load(read_table(annotations, "v.csv"), read_table(raters, "r.csv"), spec, ("side",))


def planted(seed: int, on: tuple[str, ...] = ()) -> Dataset:
    """Two groups of 15 who answer alike, but for some items on which one inverts the answer."""
    rng = np.random.default_rng(seed)
    rows = ["item,rater,label"]
    for i in range(40):
        lean = rng.uniform(0.1, 0.3)
        for j in range(30):
            yes = rng.random() < lean
            if f"i{i}" in on and j < 15:
                yes = not yes
            rows.append(f"i{i},r{j},{'Yes' if yes else 'No'}")
    profiles = ["rater,side", *(f"r{j},{'a' if j < 15 else 'b'}" for j in range(30))]
    return of_lines(rows, profiles)


def test_items_with_an_opposite_view_are_found_and_no_others() -> None:
    group = Group(("side",), ("a",))
    found = look(planted(1, ("i3", "i17")), group, permutations=4_000)
    for measure in MEASURES:
        marked = {row.item for row in found.items if row.of(measure).significance == "corrected"}
        assert marked == {"i3", "i17"}
    by_item = {row.item: row for row in found.items}
    assert by_item["i3"].label_use.label == "Yes"
    assert by_item["i3"].label_use.value > 0
    top = found.spread["label_use"].top
    assert top.share > top.high


@pytest.mark.long
def test_without_a_difference_p_values_are_as_rare_as_they_say() -> None:
    group = Group(("side",), ("a",))
    found = [look(planted(seed), group, permutations=400, seed=seed) for seed in range(20)]
    for measure in MEASURES:
        p = np.array([row.of(measure).p for result in found for row in result.items], dtype=float)
        assert np.count_nonzero(~np.isnan(p)) > 750
        # An item's own test is discrete, so it is rarer than its level; three standard errors above it.
        assert (p < 0.05).mean() < 0.05 + 3 * np.sqrt(0.05 * 0.95 / p.size)
        assert (p < 0.05).mean() > 0.01


def test_items_with_one_label_are_not_tested_and_too_few_permutations_are_told() -> None:
    rows = ["item,rater,label", *(f"same,r{j},No" for j in range(8))]
    rows += [f"b,r{j},{'NY'[j % 2]}" for j in range(8)]
    profiles = ["rater,side", *(f"r{j},{'ab'[j // 4]}" for j in range(8))]
    found = look(of_lines(rows, profiles), Group(("side",), ("a",)))
    same, _ = found.items
    for measure in MEASURES:
        part = same.of(measure)
        assert (part.value, part.p, part.q, part.reason) == (0, None, None, NoValue.ONE_LABEL_ACROSS())
        assert found.spread[measure].tested == 1
    found = look(dataset(5, items=30, missing=0.8), permutations=120)
    codes = [warning.code for warning in found.warnings]
    assert codes == [Caution.ITEMS_WITHOUT_PAIRS, Caution.TOO_FEW_FOR_CORRECTION]
    few = look(dataset(5), permutations=50)
    assert few.warnings == (Caution.TOO_FEW_FOR_P(),)
    assert all(row.label_use.p is None for row in few.items)
    assert few.items[0].label_use.reason == NoValue.FEW_SHUFFLED_VALUES(shuffled=50)


def test_one_question_of_several_is_looked_at() -> None:
    rng = np.random.default_rng(3)
    rows = ["item,rater,first,second"]
    for i, j in itertools.product(range(6), range(10)):
        rows.append(f"i{i},r{j},{rng.choice(['a', 'b'])},{rng.choice(['c', 'd']) if i else ''}")
    profiles = ["rater,side", *(f"r{j},{'xy'[j % 2]}" for j in range(10))]
    spec = DataSpec(item="item", rater="rater", label="first", further=(Question("second", None),))
    data, group = of_lines(rows, profiles, spec), Group(("side",), ("x",))
    run = RunSpec(spec, AnalysisSpec(axes=(("side",),), permutations=200))
    first, second = (look_at_items(data, ItemsRequest(run, group, 200, q), map) for q in (0, 1))
    assert (first.question, second.question) == ("first", "second")
    assert (len(first.items), len(second.items)) == (6, 5)
    assert [*second.label_use] == ["c", "d"]
    alone = of_lines(rows, profiles, DataSpec(item="item", rater="rater", label="second"))
    by_itself = look(alone, group, permutations=200)
    assert [row.label_use for row in by_itself.items] == [row.label_use for row in second.items]
    with pytest.raises(SpecError, match="2 questions; choose one"):
        look_at_items(data, ItemsRequest(run, group, 200, 2), map)


def test_what_cannot_be_looked_at_is_refused() -> None:
    data = dataset(5)
    with pytest.raises(SpecError, match="no group Purple of race"):
        look(data, Group(("race",), ("Purple",)))
    with pytest.raises(SpecError, match="no group Woman of gender"):
        look(data, Group(("gender",), ("Woman",)), axes=(("race",),))
    rows = ["item,rater,label", "a,r0,Yes", "a,r1,No", "b,r2,Yes", "b,r3,No"]
    profiles = ["rater,side", "r0,x", "r1,x", "r2,y", "r3,y"]
    with pytest.raises(DataError, match="x: no item was rated both by the group and by the others, so there"):
        look(of_lines(rows, profiles), Group(("side",), ("x",)))


def test_file_is_read_back() -> None:
    found = look(dataset(5, missing=0.5))
    plain = json.loads(json.dumps(found.to_dict()))
    assert (plain["format"], plain["version"]) == ("grasp-items", 1)
    assert (plain["axis"], plain["group"]) == (["race"], {"race": "Black"})
    assert ItemsResult.from_dict(plain) == found
    with pytest.raises(DataError, match="not a GRASP result about items"):
        ItemsResult.from_dict({**plain, "format": "grasp-run"})
    with pytest.raises(DataError, match=r"the file of items is damaged: items\[0\]: `item` must be a text"):
        ItemsResult.from_dict({**plain, "items": [{**plain["items"][0], "item": 7}]})


@needs_shared_data
def test_dices_350_as_the_methods_have_it() -> None:
    """E and D of White men: METHODS-2.md, section 10, computed by independent code."""
    from tests.analysis.models.cases import SPEC, data

    group = Group(("rater_race", "rater_gender"), ("White", "Man"))
    spec = RunSpec(SPEC, AnalysisSpec(axes=(group.axes,)))
    found = look_at_items(data(), ItemsRequest(spec, group, 1_000), map)
    assert found.distance == pytest.approx(0.0772, abs=5e-5)
    points = [round(100 * value, 1) for value in found.label_use.values()]
    assert points == [20.8, -17.6, -3.3]
    assert len(found.items) == 350


# The twin: a group's items in plain NumPy, every permutation kept, nothing counted as it goes
TIE = 1e-12


class Twin:
    """Terms, p, q and the top tenth's share of a group's items."""

    def __init__(self, dataset: Dataset, analysis: AnalysisSpec, group: Group) -> None:
        grouping = form_groups(dataset.raters, [group.axes], min_raters=analysis.min_raters)
        at = grouping.groups.index(group)
        self.member, self.others = grouping.member[at], grouping.complement(at)
        self.annotations, self.analysis = dataset.annotations, analysis
        self.c, self.d = self.counts(np.arange(self.member.size))
        shared = (self.c.sum(axis=1) > 0) & (self.d.sum(axis=1) > 0)
        marginals = (self.c + self.d)[shared].sum(axis=0)
        values = category_values(self.annotations.categories, analysis.level)
        self.apart = squared_distances(analysis.level, values, marginals / marginals.sum())
        drawn = exchange_of(dataset.raters, analysis)
        null = [self.counts(permutation(analysis.seed, b, *drawn)) for b in range(analysis.permutations)]
        self.null_use = np.array([label_use_terms(c, d) for c, d in null])
        self.null_apart = np.array([distance_terms(c, d, self.apart) for c, d in null])

    def counts(self, source: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return count(self.annotations, self.member[source]), count(self.annotations, self.others[source])

    @property
    def use(self) -> np.ndarray:
        """Each label's term over the weight of all items, (I, K)."""
        return label_use_terms(self.c, self.d) / weights(self.c, self.d).sum()

    @property
    def distance(self) -> np.ndarray:
        """The same of distance, (I,), over the weight of the items that have one."""
        terms = distance_terms(self.c, self.d, self.apart)
        return terms / weights(self.c, self.d)[~np.isnan(terms)].sum()

    def deviations(self) -> tuple[np.ndarray, np.ndarray]:
        """How far the furthest label lies: observed, (I,), and shuffled, (B, I)."""
        centre, scale = self.standard_use()
        observed = np.abs(label_use_terms(self.c, self.d) - centre) / scale
        return observed.max(axis=1), (np.abs(self.null_use - centre) / scale).max(axis=2)

    def standard_use(self) -> tuple[np.ndarray, np.ndarray]:
        centre, scale = standard(self.null_use)
        if self.analysis.strata:
            return centre, scale
        if self.analysis.cluster is None:  # an item's labels vary as T (N - T)
            inside, of_all = self.total, self.total.sum(axis=1, keepdims=True)
            known = np.where(np.isfinite(scale), inside * (of_all - inside), 0)
            of_item = np.where(np.isfinite(scale), scale, 0) ** 2
            factor = of_item.sum(axis=1, keepdims=True) / np.maximum(known.sum(axis=1, keepdims=True), 1)
            scale = np.where(np.isfinite(scale), np.sqrt(factor * known), np.inf)
        return np.zeros_like(centre), scale

    def above(self) -> tuple[np.ndarray, np.ndarray]:
        centre, scale = standard(self.null_apart)
        observed = distance_terms(self.c, self.d, self.apart)
        return (observed - centre) / scale, (self.null_apart - centre) / scale

    def tests(self, measure: str) -> tuple[list[float | None], list[float | None]]:
        """p and q of every item."""
        if measure == "label_use":
            observed, null = self.deviations()
            furthest, shuffled = observed, null
        else:
            observed, null = distance_terms(self.c, self.d, self.apart), self.null_apart
            furthest, shuffled = self.above()
        n = (~np.isnan(null)).sum(axis=0)
        several = (self.total > 0).sum(axis=1) > 1
        tested = ~np.isnan(observed) & (n >= 100) & several
        reached = (null >= observed - TIE * np.maximum(1, np.abs(observed))).sum(axis=0)
        p = [(1 + r) / (1 + b) if t else None for r, b, t in zip(reached, n, tested, strict=True)]
        if self.analysis.correction != "max-t":
            return p, q_values(p, observed, null, self.analysis.correction)
        largest = np.nanmax(np.where(tested, shuffled, -np.inf), axis=1)
        q = [
            (1 + (largest >= furthest[i] - TIE).sum()) / (1 + largest.size) if tested[i] else None
            for i in range(len(p))
        ]
        return p, q

    @property
    def total(self) -> np.ndarray:
        """Everybody's labels, known or not, (I, K)."""
        return count(self.annotations, np.ones(self.member.size, dtype=bool))

    def shares(self, measure: str) -> tuple[float, np.ndarray]:
        """The top tenth's share: observed, and in every permutation."""
        observed = (
            label_use_terms(self.c, self.d)
            if measure == "label_use"
            else distance_terms(self.c, self.d, self.apart)
        )
        null = self.null_use if measure == "label_use" else self.null_apart
        return share(observed), np.array([share(of) for of in null])


def standard(null: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    known = np.maximum((~np.isnan(null)).sum(axis=0), 1)
    centre = np.nansum(null, axis=0) / known
    scale = np.sqrt(np.nansum((null - centre) ** 2, axis=0) / known)
    return centre, np.where(scale > 1e-9, scale, np.inf)


def share(terms: np.ndarray) -> float:
    sizes = np.abs(terms).sum(axis=1) / 2 if terms.ndim == 2 else np.maximum(terms, 0)
    return top_share(sizes[~np.isnan(sizes)])
