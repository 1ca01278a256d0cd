"""Models beside simulated raters, and DICES-350 with the planted model's labels."""

import dataclasses
import functools

import numpy as np

from grasp_core.analysis.models.labels import sources
from grasp_core.analysis.models.result import ModelsResult, closer
from grasp_core.model.annotations import Annotations, ModelLabels
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.statistics.items import count
from tests.computing import compute_in_threads
from tests.permutation.simulated import DATA_SPEC, dataset
from tests.shared_data import DICES350


def model(name: str, labels: np.ndarray, source: str = "labels.csv") -> ModelLabels:
    return ModelLabels(name, labels.astype(np.int32), source, "0" * 64)


def random_labels(seed: int, annotations: Annotations, models: int = 3) -> np.ndarray:
    """Shape (M, I); some items have none, and the last model gives one label always."""
    labels = np.random.default_rng(seed).integers(
        -1, annotations.n_categories, (models, annotations.n_items), dtype=np.int32
    )
    labels[-1] = 0
    return labels


def plurality_of(dataset: Dataset, member: np.ndarray) -> np.ndarray:
    """The first of the most frequent labels, and -1 where nobody gave one."""
    counts = count(dataset.annotations, member)
    return np.where(counts.any(axis=1), counts.argmax(axis=1), -1)


def ask(dataset: Dataset, models: list[ModelLabels], **analysis) -> ModelsResult:
    asked = AnalysisSpec(**{"axes": (("gender",), ("race",)), "permutations": 499, **analysis})
    return compute_models(dataset, models, RunSpec(DATA_SPEC, asked))


def crowd_and_half(**analysis) -> ModelsResult:
    """Of one model that copies everybody's plurality, and one that labels half of the items at random."""
    data = dataset(3, items=40, raters=40, missing=0.2)
    half = np.where(np.arange(40) % 2, np.random.default_rng(1).integers(0, 3, 40), -1)
    crowd = plurality_of(data, np.ones(40, dtype=bool))
    return ask(data, [model("crowd", crowd), model("half", half)], **{"ties": "first", **analysis})


def compute_models(dataset: Dataset, models: list[ModelLabels], spec: RunSpec) -> ModelsResult:
    """On threads, as the command line does."""
    spec = dataclasses.replace(spec, models=sources(models))
    return compute_in_threads(dataclasses.replace(dataset, models=tuple(models)), spec)


def sided(result: ModelsResult, name: str) -> tuple[set[tuple[str, ...]], set[tuple[str, ...]]]:
    """The groups that a model sides with and those it sides against, by macro-F1 after correction."""
    found: dict[bool | None, set[tuple[str, ...]]] = {True: set(), False: set()}
    for row in result.groups:
        outcome = row.models[name].statistics["macro_f1"]
        if outcome.significance == "corrected":
            found[closer("macro_f1", outcome)].add(row.group.values)
    return found[True], found[False]


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
