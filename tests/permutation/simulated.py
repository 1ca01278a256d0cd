"""Seeded data sets for tests, of any shape and with any kind of gap; five groups of two axes."""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from grasp_core.analysis.cohesion.columns import Places, cohesion_tests, members, with_dsi
from grasp_core.analysis.cohesion.results import by_axis, by_group
from grasp_core.model.annotations import Annotations, Axis, FloatArray, Raters
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.groups import Group, Grouping, form_groups
from grasp_core.model.spec import STATISTICS, AnalysisSpec
from grasp_core.permutation import compiled
from grasp_core.permutation.design import Design, build_design
from grasp_core.permutation.draw import exchange_of, identity, permutation
from grasp_core.permutation.testing.outcomes import outcomes
from grasp_core.permutation.testing.p_values import Kept
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.sandbox.read import read_table
from tests.permutation import reference

DATA_SPEC = DataSpec(item="item", rater="rater", label="label")
CONVENTIONS: dict[str, dict[str, Any]] = {
    "smooth": {},
    "paper": {"cross_negentropy": "paper", "voting_agreement": "kappa"},
}
"""What the conventions of GRASP and of the paper count on items, but for ties."""


AXES = (("gender",), ("race",), ("gender", "race"), ("gender", "race", "region"))
SHAPES = {
    "crossed": {},
    "two categories": {"categories": 2, "missing": 0.2},
    "missing": {"missing": 0.7, "items": 30},
    "nearly empty": {"missing": 0.96, "items": 30},
    "one label": {"categories": 3, "unused": 2},
    "unknown": {"unknown": 0.3, "missing": 0.1},
    "never used": {"categories": 6, "unused": 3, "missing": 0.3, "unknown": 0.1},
    "20 categories": {"categories": 20, "missing": 0.2, "unknown": 0.1},
    "more than 64 raters": {"raters": 130, "items": 8, "missing": 0.3, "unknown": 0.1},
    "exactly 64 raters": {"raters": 64, "items": 8},
    "few raters": {"raters": 4, "items": 12, "missing": 0.2},
}
NUMBERS = range(5, 8)
"""Permutations compared; not from 0, so that an offset would show."""


def coded(
    item, rater, category, labels: int | Sequence[str], shape: tuple[int, int] | None = None
) -> Annotations:
    """Annotations from codes, whose ids and, unless they are given, labels are numbered."""
    items, raters = shape or (int(np.max(item)) + 1, int(np.max(rater)) + 1)
    return Annotations.from_codes(
        item=item,
        rater=rater,
        category=category,
        item_ids=[f"i{i}" for i in range(items)],
        rater_ids=[f"r{j}" for j in range(raters)],
        categories=[f"label {k}" for k in range(labels)] if isinstance(labels, int) else labels,
    )


def part(annotations: Annotations, chosen: Any, category: np.ndarray | None = None) -> Annotations:
    """The chosen annotations, with all ids, and other labels where these are given."""
    codes = (annotations.item, annotations.rater, annotations.category if category is None else category)
    ids = {name: getattr(annotations, name) for name in ("item_ids", "rater_ids", "categories")}
    item, rater, category = (one[chosen] for one in codes)
    return Annotations.from_codes(item=item, rater=rater, category=category, **ids)


def simulate(
    seed: int,
    *,
    items: int = 20,
    raters: int = 24,
    categories: int = 3,
    missing: float = 0.0,
    unknown: float = 0.0,
    unused: int = 0,
) -> tuple[Annotations, Raters]:
    """Labels that lean on an item's difficulty but not on demographics; axes gender, race and region.

    `missing` and `unknown` are shares of annotations and of demographic values, `unused` the number of
    last categories that nobody gave.
    """
    rng = np.random.default_rng(seed)
    lean = rng.dirichlet(np.full(categories - unused, 0.7), size=items)
    labels = (rng.random((items, raters, 1)) > lean.cumsum(axis=1)[:, None, :-1]).sum(axis=2)
    item, rater = np.nonzero(rng.random((items, raters)) >= missing)
    annotations = coded(item, rater, labels[item, rater], categories, (items, raters))
    values = {"gender": ("Man", "Woman"), "race": ("Asian", "Black", "White"), "region": ("N", "S")}
    axes = {
        name: Axis.from_values(
            [None if rng.random() < unknown else str(rng.choice(choices)) for _ in range(raters)]
        )
        for name, choices in values.items()
    }
    return annotations, Raters(annotations.rater_ids, axes)


def clustered(seed: int, *, nested: bool, **shape: Any) -> tuple[Annotations, Raters]:
    """:func:`simulate` with teams of one to four, each in one region; `nested` ones in one group."""
    annotations, raters = simulate(seed, **shape)
    team = np.repeat(np.arange(annotations.n_raters), np.arange(annotations.n_raters) % 4 + 1)
    team = team[: annotations.n_raters]
    _, first = np.unique(team, return_index=True)
    alike = raters.axes if nested else {"region": raters.axes["region"]}
    led = {name: Axis(axis.values, axis.codes[first[team]]) for name, axis in alike.items()}
    teams = Axis.from_values([None if number % 5 == 0 else str(number) for number in team.tolist()])
    return annotations, Raters(raters.rater_ids, {**raters.axes, **led, "team": teams})


def built(annotations: Annotations, raters: Raters, spec: AnalysisSpec, **how: bool | None) -> Design:
    """The design of all groups, whatever their size."""
    return build_design(annotations, raters, form_groups(raters, spec.axes), spec, **how)


def by_definition(
    annotations: Annotations, raters: Raters, spec: AnalysisSpec, source: Any = None
) -> FloatArray:
    """What the plain twin makes of these groups, of the data as they are or of who has whose profile."""
    source = identity(annotations.n_raters) if source is None else source
    return reference.evaluate(annotations, form_groups(raters, spec.axes), spec, source)[0]


def agrees_with_twin(
    designs: Sequence[Design],
    annotations: Annotations,
    raters: Raters,
    spec: AnalysisSpec,
    numbers: range = NUMBERS,
    rtol: float = 0.0,
) -> None:
    """Whether observed and shuffled values of each design are the plain twin's; NaN equals NaN only."""
    grouping = form_groups(raters, spec.axes, min_raters=spec.min_raters)
    layout = exchange_of(raters, spec)
    sources = [identity(annotations.n_raters), *(permutation(spec.seed, b, *layout) for b in numbers)]
    expected = [reference.evaluate(annotations, grouping, spec, source)[0] for source in sources]
    for one in designs:
        found = [compiled.observed(one), *compiled.shuffled(one, spec.seed, numbers.start, numbers.stop)]
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-10)


def files(annotations: Annotations, raters: Raters) -> tuple[bytes, bytes]:
    """The data as a long file of annotations and a file of raters."""
    votes, profiles = io.StringIO(), io.StringIO()
    votes.write("item,rater,label\n")
    for item, rater, category in zip(annotations.item, annotations.rater, annotations.category, strict=True):
        votes.write(
            f"{annotations.item_ids[item]},{annotations.rater_ids[rater]},{annotations.categories[category]}\n"
        )
    profiles.write(f"rater,{','.join(raters.axes)}\n")
    for j, name in enumerate(raters.rater_ids):
        cells = [axis.values[axis.codes[j]] if axis.codes[j] >= 0 else "" for axis in raters.axes.values()]
        profiles.write(f"{name},{','.join(cells)}\n")
    return votes.getvalue().encode(), profiles.getvalue().encode()


def named_files(annotations: Annotations, raters: Raters) -> dict[str, bytes]:
    return dict(zip(("votes.csv", "raters.csv"), files(annotations, raters), strict=True))


def dataset(seed: int, **shape: float) -> Dataset:
    """The same data as a run takes them."""
    votes, profiles = files(*simulate(seed, **shape))  # type: ignore[arg-type]
    tables = read_table(votes, "votes.csv"), read_table(profiles, "raters.csv")
    return load(*tables, DATA_SPEC, ("gender", "race", "region"))


GROUPS = tuple(
    Group(axes, values)
    for axes, choices in ((("gender",), ("Man", "Woman")), (("race",), ("Asian", "Black", "White")))
    for values in ((choice,) for choice in choices)
)
SPEC = AnalysisSpec(axes=(("gender",), ("race",)), permutations=300)
GAI = STATISTICS.index("gai")


def around_one(rng: np.random.Generator, b: int, apart: float = 0.35) -> tuple[np.ndarray, np.ndarray]:
    """Every group's statistics, normal ones: observed, some of them far out, and shuffled b times."""
    null = rng.normal(1, 0.2, size=(b, len(GROUPS), len(STATISTICS)))
    return rng.normal(1, apart, size=(len(GROUPS), len(STATISTICS))), null


def kept(observed: np.ndarray, null: np.ndarray, groups=GROUPS) -> Kept:
    """The values, laid out as they are tested."""
    of_axis = members(groups, SPEC)
    return Kept(with_dsi(observed, of_axis), with_dsi(null, of_axis))


def by_group_and_axis(observed: np.ndarray, null, spec: AnalysisSpec = SPEC, groups=GROUPS, reasons=None):
    """Every group's outcomes by statistic, and every axis's DSI."""
    columns = with_dsi(observed, members(groups, spec))
    found = outcomes(cohesion_tests(groups, spec), columns, null, reasons or {})
    return by_group(found, Places(len(groups)), spec), by_axis(
        found, groups, observed[:, GAI], spec, Places(len(groups))
    )


def dsi_p(grouping: Grouping, observed: np.ndarray, null: np.ndarray, spec: AnalysisSpec) -> float:
    """The p of the one axis's DSI; NaN where too few permutations had a GAI."""
    of_axis = members(grouping.groups, spec)
    values = Kept(with_dsi(observed, of_axis), with_dsi(null, of_axis))
    _, (dsi,) = by_group_and_axis(observed, values, spec, grouping.groups)
    p = dsi.outcome.p
    return np.nan if p is None else p
