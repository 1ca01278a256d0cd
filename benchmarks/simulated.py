"""Data of a published size, for published data without the ratings themselves."""

from __future__ import annotations

import numpy as np

from benchmarks.figures import DICES
from grasp_core.model.annotations import Annotations, Axis, Raters
from grasp_core.model.spec import AnalysisSpec
from grasp_core.reading.sandbox.read import read_table

D3 = DICES.parent / "d3" / "raters.csv"
"""The 4,309 published rater profiles, if they are beside the repository."""
ITEMS, RATINGS, EACH = 4554, 150_702, 35
AXES = ("Gender", "Age", "Region", "Country", "SES")
SIZES = (3, 3, 8, 21, 5)
"""Number of values of each axis, if the published profiles are missing."""


def d3_size(categories: int) -> tuple[Annotations, Raters, AnalysisSpec]:
    """Draw 150,702 ratings of 4,554 items by 4,309 raters, with five axes and an intersection of two."""
    rng = np.random.default_rng(1)
    axes = _profiles(rng)
    n_raters = len(next(iter(axes.values())).codes)
    rater = np.repeat(np.arange(n_raters), EACH)[:RATINGS]
    item = np.concatenate([rng.choice(ITEMS, EACH, replace=False) for _ in range(n_raters)])[:RATINGS]
    lean = rng.standard_normal(ITEMS)[item] + rng.standard_normal(RATINGS)
    label = np.searchsorted(np.quantile(lean, np.arange(1, categories) / categories), lean)
    annotations = Annotations.from_codes(
        item=item,
        rater=rater,
        category=label,
        item_ids=[str(i) for i in range(ITEMS)],
        rater_ids=[str(j) for j in range(n_raters)],
        categories=[str(k) for k in range(categories)],
    )
    spec = AnalysisSpec(axes=(*((name,) for name in AXES), ("Region", "Gender")))
    return annotations, Raters(annotations.rater_ids, axes), spec


def _profiles(rng: np.random.Generator) -> dict[str, Axis]:
    if not D3.is_file():
        return {
            name: Axis.from_values([str(value) for value in rng.integers(0, size, 4309)])
            for name, size in zip(AXES, SIZES, strict=True)
        }
    table = read_table(D3)
    return {
        name: Axis.from_values([table.cell(name, row) or None for row in range(len(table))]) for name in AXES
    }
