"""A synthetic data set with known answers: one planted cohesive and one planted incohesive group.

Raters judge whether items are unsafe. Every item has a latent severity, every rater a leaning. Raters
perceive the severity, some more clearly than others; their label is the perceived severity, cut at two
thresholds. Members of the cohesive group share a further view of each item that others do not have, and call
items unsafe more readily. Members of the incohesive group perceive severity only faintly. All other
differences between groups are due to chance.
"""

import numpy as np

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.groups import Group
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.model.text import csv_text

SEED = 20240616
N_ITEMS = 350
LABELS = ("No", "Yes", "Unsure")
AXES = ("rater_race", "rater_gender", "rater_age")

RATERS_PER_GROUP = {
    ("Asian", "Woman"): 9,
    ("Asian", "Man"): 12,
    ("Black", "Woman"): 16,
    ("Black", "Man"): 7,
    ("Latine", "Woman"): 12,
    ("Latine", "Man"): 10,
    ("Multiracial", "Woman"): 4,
    ("Multiracial", "Man"): 9,
    ("White", "Woman"): 16,
    ("White", "Man"): 9,
}
"""Race and gender of the raters, as in Table 2 of the GRASP paper (DICES-350)."""
AGES = ("18-24", "25-40", "41+")

COHESIVE = Group(("rater_race", "rater_gender"), ("Black", "Woman"))
INCOHESIVE = Group(("rater_race", "rater_gender"), ("Asian", "Man"))

_SIGHT = 0.75
_SIGHT_SPREAD = 0.3
_FAINT = 0.3
_OWN_VIEW = 0.5
_READIER = 0.4
_LEANING = 0.5
_THRESHOLDS = (0.45, 0.85)


def example_files(seed: int = SEED) -> dict[str, bytes]:
    """Generate the example: ``annotations.csv`` and ``raters.csv``, by name."""
    rng = np.random.default_rng(seed)
    profiles = [group for group, size in RATERS_PER_GROUP.items() for _ in range(size)]
    ages = rng.permutation(np.resize(AGES, len(profiles)))
    severity = rng.standard_normal(N_ITEMS)
    own_view = rng.standard_normal(N_ITEMS)
    raters: list[tuple[str, ...]] = []
    annotations: list[tuple[str, ...]] = []
    for j, (race, gender) in enumerate(profiles):
        rater = f"R{j + 1:03d}"
        raters.append((rater, race, gender, str(ages[j])))
        sight = rng.normal(_SIGHT, _SIGHT_SPREAD)
        if (race, gender) == INCOHESIVE.values:
            sight *= _FAINT
        perceived = sight * severity
        if (race, gender) == COHESIVE.values:
            perceived = perceived + _OWN_VIEW * own_view + _READIER
        perceived = perceived + _LEANING * rng.standard_normal() + rng.standard_normal(N_ITEMS)
        for i, place in enumerate(np.digitize(perceived, _THRESHOLDS)):
            label = ("No", "Unsure", "Yes")[place]
            annotations.append((f"item-{i + 1:03d}", rater, label))
    return {
        "annotations.csv": csv_text(("item_id", "rater_id", "label"), annotations).encode(),
        "raters.csv": csv_text(("rater_id", *AXES), raters).encode(),
    }


def example_spec() -> RunSpec:
    """Return the spec for reading and analysing the example's files."""
    race, gender, age = AXES
    return RunSpec(
        DataSpec(item="item_id", rater="rater_id", label="label", categories=LABELS),
        AnalysisSpec(axes=((age,), (gender,), (race,), (race, gender)), pairs=True),
    )
