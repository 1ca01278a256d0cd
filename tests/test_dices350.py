"""DICES-350 against the paper's Table 5."""

import csv
import functools
from collections.abc import Callable

import pytest

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.outcome import Outcome
from grasp_core.model.result import RunResult
from grasp_core.model.spec import PAPER_CONVENTIONS, AnalysisSpec, RunSpec
from grasp_core.reading.dataset.load import load
from grasp_core.reading.sandbox.read import read_table
from tests.computing import compute_in_threads
from tests.engine.asking import planting as planting
from tests.shared_data import DICES350, REFERENCE, needs_shared_data

pytestmark = needs_shared_data

AXES = {"age": ("rater_age",), "gender": ("rater_gender",), "race": ("rater_race",)}
AXES["race, gender"] = (*AXES["race"], *AXES["gender"])
# The paper's short names of the values in the published data.
NAMES = {
    "Asian": "Asian/Asian subcontinent",
    "Black": "Black/African American",
    "Latine": "LatinX, Latino, Hispanic or Spanish Origin",
}
EXACT = ("irr", "xrr", "negentropy", "cross_negentropy", "plurality_size", "gai")
LONG = DataSpec(
    item="item_id",
    rater="rater_id",
    label="Q_overall",
    categories=("No", "Yes", "Unsure"),
    exclude=(("removed", "True"),),
)


@functools.cache
def result(**analysis) -> RunResult:
    spec = RunSpec(LONG, AnalysisSpec(**{"axes": tuple(AXES.values()), "permutations": 100, **analysis}))
    ratings = read_table(DICES350 / "ratings_long.csv")
    raters = read_table(DICES350 / "raters.csv")
    dataset = load(ratings, raters, spec.data, [names[0] for names in AXES.values() if len(names) == 1])
    return compute_in_threads(dataset, spec)


def paper_run() -> RunResult:
    return result(permutations=10_000, seed=1, **PAPER_CONVENTIONS)


@functools.cache
def table_5() -> dict[tuple[str, str, str], dict[str, str]]:
    """Cells by axis, group and statistic: value, direction, significance."""
    with (REFERENCE / "grasp_tables_5_6_7.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["table"] == "5"]
    return {(row["axis"], row["group"], row["statistic"]): row for row in rows}


def cells(of: RunResult, statistics: tuple[str, ...]) -> list[tuple[dict[str, str], Outcome]]:
    """The paper's cell and ours, for every group."""
    ours = {
        (row.group.axes, row.group.values, name): outcome
        for row in of.groups
        for name, outcome in row.statistics.items()
    }
    paired = []
    for (axis, group, name), cell in table_5().items():
        if name in statistics:
            values = tuple(NAMES.get(value, value) for value in group.split(", "))
            paired.append((cell, ours[AXES[axis], values, name]))
    return paired


def test_the_data_are_the_104_kept_raters() -> None:
    data = result().data
    assert (data.items, data.raters, data.annotations) == (350, 104, 36_400)
    # Table 2 of the paper.
    raters = {row.group.values: row.n_raters for row in result().groups}
    assert raters["Asian/Asian subcontinent", "Woman"] == 9
    assert raters["White", "Woman"] == 16
    assert raters["Multiracial", "Woman"] == 4


@pytest.mark.parametrize("name", EXACT)
def test_values_are_the_papers(name: str) -> None:
    """All three decimals that are printed."""
    for cell, outcome in cells(paper_run(), (name,)):
        assert f"{outcome.value:.3f}" == cell["value"], cell


def test_voting_agreement_but_for_the_order_of_ties() -> None:
    """Ties go to the first label here, and in the paper as an old sort left them: see test_paper.py."""
    for cell, outcome in cells(paper_run(), ("voting_agreement",)):
        # 0.0605 for Multiracial raters, the most.
        assert outcome.value == pytest.approx(float(cell["value"]), abs=0.061), cell


def where(differ: Callable[[dict[str, str], Outcome], bool]) -> set[tuple[str, str]]:
    return {
        (cell["group"], cell["statistic"]) for cell, ours in cells(paper_run(), EXACT) if differ(cell, ours)
    }


def test_nominal_stars_are_the_papers() -> None:
    """Under `paper` p-values, seed 1, 10,000 permutations: two cells differ, two sit at 0.05."""
    differing = where(lambda cell, outcome: (cell["significance"] != "none") != (outcome.p < 0.05))
    # With 100,000 permutations (seed 7) p is 0.080 and 0.073; the other two have 0.048, and with 10,000
    # fall on either side.
    known = {("White, Man", "irr"), ("White", "cross_negentropy")}
    border = {("Multiracial, Woman", "plurality_size"), ("Black, Woman", "irr")}
    assert known <= differing <= known | border


def test_arrows_are_the_papers() -> None:
    differing = where(lambda cell, outcome: cell["direction"] != outcome.direction)
    assert len(differing) <= 1
    assert differing <= {("gen x+", "gai")}


def test_stars_after_correction_are_the_papers() -> None:
    """The paper's corrected stars do not follow from its p for three cells; two sit at 0.05."""
    differing = where(lambda cell, outcome: (cell["significance"] == "bh") != (outcome.q < 0.05))
    # With 100,000 permutations (seed 7) q is 0.093, 0.10 and 0.032; the other two have 0.052 and 0.048.
    known = {("Latine, Woman", "xrr"), ("White, Man", "gai"), ("Asian, Woman", "plurality_size")}
    border = {("White, Man", "cross_negentropy"), ("Asian, Woman", "negentropy")}
    assert known <= differing <= known | border
