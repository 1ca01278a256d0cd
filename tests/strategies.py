"""Hypothesis strategies for data sets."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from grasp_core.model.annotations import Annotations, Axis, Int64Array, Raters

AWKWARD = ("007", "7", "None", "NA", "nan", "=1+1", "<script>", 'a "quoted" b', "a,b", "x;y|z", "é", "1.0")
"""Texts that careless reading changes."""

_TEXTS = st.sampled_from(AWKWARD) | st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=8
).filter(lambda text: bool(text.strip()))


@dataclass(frozen=True)
class Votes:
    """A small data set: who gave which item which label, and each rater's value on one axis."""

    items: list[str]
    raters: list[str]
    votes: list[tuple[str, str, str]]
    axis: dict[str, str]


@st.composite
def votes(draw: st.DrawFn, *, labels: tuple[str, ...] = ("No", "Yes", "NA", "007")) -> Votes:
    """At least one annotation for each item and rater; ids are any text that is not blank."""
    items = draw(st.lists(_TEXTS, min_size=2, max_size=5, unique=True))
    raters = draw(st.lists(_TEXTS, min_size=2, max_size=5, unique=True))
    pairs = [(item, rater) for item in items for rater in raters]
    some = draw(st.sets(st.sampled_from(pairs)))
    every = {(item, raters[index % len(raters)]) for index, item in enumerate(items)}
    every |= {(items[index % len(items)], rater) for index, rater in enumerate(raters)}
    chosen = [pair for pair in pairs if pair in some | every]
    given = [(item, rater, draw(st.sampled_from(labels))) for item, rater in chosen]
    axis = {rater: draw(st.sampled_from(("Woman", "Man", "None"))) for rater in raters}
    return Votes(items, raters, given, axis)


def label_counts(
    *, items: tuple[int, int] = (1, 6), categories: tuple[int, int] = (2, 4), most: int = 4
) -> st.SearchStrategy[Int64Array]:
    """Labels per item and category, shape (I, K); items without labels and unused categories included."""
    shapes = st.tuples(st.integers(*items), st.integers(*categories))
    return shapes.flatmap(lambda shape: counts_of(shape, most=most))


def counts_of(shape: tuple[int, int], *, most: int = 4) -> st.SearchStrategy[Int64Array]:
    """Labels per item and category of the given shape."""
    size = shape[0] * shape[1]
    cells = st.lists(st.integers(0, most), min_size=size, max_size=size)
    return cells.map(lambda values: np.array(values, dtype=np.int64).reshape(shape))


@st.composite
def rated(draw: st.DrawFn, *, unknown: bool = True, sides: int | None = None) -> tuple[Annotations, Raters]:
    """A small formed data set with missing annotations and two axes, "gender" and "race".

    `unknown` lets demographic values be unknown; `sides` fixes the number of values of gender.
    """
    n_items, n_raters, n_categories = (
        draw(st.integers(1, 6)),
        draw(st.integers(2, 8)),
        draw(st.integers(2, 5)),
    )
    cells = st.lists(
        st.integers(-1, n_categories - 1), min_size=n_items * n_raters, max_size=n_items * n_raters
    )
    matrix = np.array(draw(cells)).reshape(n_items, n_raters)
    item, rater = np.nonzero(matrix >= 0)
    annotations = Annotations.from_codes(
        item=item,
        rater=rater,
        category=matrix[item, rater],
        item_ids=[f"item {i}" for i in range(n_items)],
        rater_ids=[f"rater {j}" for j in range(n_raters)],
        categories=[f"label {k}" for k in range(n_categories)],
    )
    genders = ("Woman", "Man", "Nonbinary")[:sides]
    axes = {}
    for name, values in (("gender", genders), ("race", ("Asian", "Black"))):
        one = st.sampled_from((*values, None) if unknown else values)
        axes[name] = Axis.from_values(draw(st.lists(one, min_size=n_raters, max_size=n_raters)))
    return annotations, Raters(annotations.rater_ids, axes)
