from dataclasses import replace

import pytest

from grasp_core.model.outcome import Outcome
from grasp_core.report.charts.matrix import pairs_matrix
from grasp_core.report.charts.theme import IMAGES, spec_of
from grasp_core.report.pairs import measures
from tests.report.charts.drawn import datasets
from tests.results import make_outcome, make_pair, make_result, with_pairs

RESULT = with_pairs()
YES = measures(RESULT)["label: Yes"]


def test_each_cell_says_how_the_row_lies_beside_the_column() -> None:
    cells = datasets(pairs_matrix(RESULT, ("race",), YES))["pairs"]
    assert len(cells) == 6
    told = {(cell["first"], cell["second"]): cell for cell in cells}
    assert told["Black", "White"]["brief"] == "+14**"
    assert told["White", "Black"]["brief"] == "−14**"
    assert told["White", "Black"]["interval"] == "[−22.2, −6.2]"
    assert told["Black", "White"]["fill"] != told["White", "Black"]["fill"]
    cells = datasets(pairs_matrix(RESULT, ("race",), measures(RESULT)["gap_a"]))["pairs"]
    told = {(cell["first"], cell["second"]): cell["value"] for cell in cells}
    assert (told["Asian", "Black"], told["Black", "Asian"]) == ("0.020", "−0.010")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("key", list(measures(RESULT)))
def test_letters_are_read_on_their_cell(theme: str, key: str) -> None:
    """WCAG 2: a contrast of 4.5 or more."""

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for cell in datasets(pairs_matrix(RESULT, ("race",), measures(RESULT)[key], theme))["pairs"]:
        low, high = sorted((luminance(cell["fill"]), luminance(cell["ink"])))
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_it_becomes_a_picture_whose_words_name_what_is_marked() -> None:
    words = pairs_matrix(RESULT, ("race",), YES).to_dict()["description"]
    assert "Black beside White +14.2, after correction" in words
    assert "Asian" not in words
    assert "No two groups" in spec_of(pairs_matrix(RESULT, ("age",), YES))["description"]
    assert IMAGES[".png"](pairs_matrix(RESULT, ("race",), YES)).startswith(b"\x89PNG")


def test_values_that_are_missing_and_many_groups() -> None:
    names = [f"group {k}" for k in range(14)]
    pairs = [
        make_pair(
            a, b, xrr=Outcome(None) if (a, b) == ("group 0", "group 1") else make_outcome(0.1, "up", "**")
        )
        for place, a in enumerate(names)
        for b in names[place + 1 :]
    ]
    result = replace(make_result(), pairs=tuple(pairs))
    chart = pairs_matrix(result, ("race",), measures(result)["xrr"])
    cells = datasets(chart)["pairs"]
    assert len(cells) == 14 * 13
    assert cells[0]["value"] == "not estimable"
    assert spec_of(chart)["layer"][1]["encoding"]["text"]["field"] == "stars"


def test_groups_of_few_raters_have_no_row() -> None:
    few = tuple(replace(row, n_raters_b=4) if row.b.values == ("White",) else row for row in RESULT.pairs)
    cells = datasets(pairs_matrix(replace(RESULT, pairs=few), ("race",), YES))["pairs"]
    assert {cell["first"] for cell in cells} == {"Asian", "Black"}
    only = replace(RESULT, pairs=tuple(replace(row, n_raters_a=4) for row in RESULT.pairs))
    words = spec_of(pairs_matrix(only, ("race",), YES))["description"]
    assert "No two groups of 5 raters or more were compared" in words
