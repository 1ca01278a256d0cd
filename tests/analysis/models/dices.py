"""DICES-350 as its published set-up reads it, and the planted model's labels."""

from __future__ import annotations

import functools

import numpy as np

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.groups import form_groups
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.sandbox.read import read_table
from tests.analysis.models.cases import plurality_of
from tests.shared_data import DICES350

AXES = (("rater_age",), ("rater_gender",), ("rater_race",), ("rater_race", "rater_gender"))
SPEC = DataSpec(
    item="item_id",
    rater="rater_id",
    label="Q_overall",
    categories=("No", "Yes", "Unsure"),
    exclude=(("removed", "True"),),
)
ASIAN_WOMEN = ("Asian/Asian subcontinent", "Woman")


@functools.cache
def data() -> Dataset:
    tables = (read_table(DICES350 / name) for name in ("ratings_long.csv", "raters.csv"))
    return load(*tables, SPEC, [names[0] for names in AXES if len(names) == 1])


def planted_labels() -> np.ndarray:
    grouping = form_groups(data().raters, AXES)
    position = [group.values for group in grouping.groups].index(ASIAN_WOMEN)
    return plurality_of(data(), grouping.member[position])
