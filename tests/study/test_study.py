"""A part of the study, small enough for every change: sizes, power, what is kept, what is written."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.study import clean, situations
from benchmarks.study.all_cells import all_cells
from benchmarks.study.cells import Cell
from benchmarks.study.document import write
from benchmarks.study.measure import FIGURES, TESTS, Measured, joined, measure
from benchmarks.study.rates import SIZE, called, clear, false_discoveries, held
from benchmarks.study.run import measured
from benchmarks.study.sections import beside
from benchmarks.study.store import keep, kept, path
from tests.links import anchors, named_rows, targets

SETS = 20
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def nothing() -> Measured:
    return measure(clean.NOTHING[1], range(SETS))


def test_what_is_not_there_is_rarely_called(nothing: Measured) -> None:
    """Of 100 calls of one statistic at .05, 5 are to be expected."""
    groups = [group for group in nothing.groups if group != ("others",)]
    for test in TESTS:
        calls = sum(called(nothing, test, group).share * SETS for group in groups)
        assert calls <= 12, test


def test_intervals_mostly_hold(nothing: Measured) -> None:
    for test in ("irr", "xrr", "distance", "label_use"):
        assert held(nothing, test, ("25",)).share >= 0.8, test


@pytest.mark.long
def test_a_label_said_more_often_is_found_and_little_else() -> None:
    """Of a group of 25 that gives one label 15 points more often; the second axis has no part in it."""
    (one,) = (
        one
        for one in clean.PLANTED
        if one.layout is clean.CROSSED and one.size == 25 and "K = 3" in one.effect.name
    )
    found = measure(one.cell, range(30))
    assert called(found, "label_use", ("in",)).share > 0.7
    assert called(found, "label_use", ("in",)).share > called(found, "gai", ("in",)).share
    assert false_discoveries(found, one.cell, "label_use").share < 0.15


def test_anything_clear_is_counted_by_data_set() -> None:
    figures = np.full((4, 2, len(TESTS), len(FIGURES)), np.nan)
    figures[:, :, TESTS.index("verdict"), FIGURES.index("q")] = [
        [0.01, 0.02],
        [0.2, 0.04],
        [0.05, 0.3],
        [0.6, 1],
    ]
    found = Measured((("in",), ("out",)), figures, np.zeros((4, 0)), (frozenset(),) * 4)
    assert clear(found).share == 0.5
    assert clear(found, {("in",)}).share == 0.25
    assert clear(found, set()).n == 0


def test_rates_are_counted_right() -> None:
    figures = np.full((4, 2, len(TESTS), len(FIGURES)), np.nan)
    figures[:, :, 0] = [
        [[0.1, 0.01, 0.01, 0.0, 0.3], [0.5, 0.9, 0.90, 0.4, 0.6]],
        [[0.2, 0.04, 0.06, 0.1, 0.4], [0.5, 0.9, 0.04, 0.4, 0.6]],
        [[0.3, 0.05, 0.01, 0.2, 0.5], [0.5, 0.9, 0.04, 0.4, 0.6]],
        [[0.4, 0.90, 0.90, 0.3, 0.6], [0.5, 0.9, 0.90, 0.6, 0.7]],
    ]
    found = Measured((("in",), ("out",)), figures, np.zeros((4, 0)), (frozenset(),) * 4)
    cell = Cell("a", "b", clean.NOTHING[0].draw, (("side",),), frozenset({("in",)}))
    assert called(found, TESTS[0], ("in",)).share == 0.5  # p of .05 is none below it
    assert called(found, TESTS[1], ("in",)).n == 0
    assert held(found, TESTS[0], ("in",)).share == 0.75  # of the mean .25, which .3 to .6 leaves out
    assert held(found, TESTS[0], ("out",)).share == 0.75
    assert false_discoveries(found, cell, TESTS[0]).share == (0 + 1 + 0.5 + 0) / 4
    assert not called(found, TESTS[0], ("in",)).outside((0.4, 0.6))
    assert called(found, TESTS[0], ("in",)).outside(SIZE)


def test_what_was_measured_is_kept_and_read_back(tmp_path: Path, nothing: Measured) -> None:
    cell = clean.NOTHING[1]
    keep(path(tmp_path, cell, 0), nothing)
    again = kept(path(tmp_path, cell, 0))
    assert again.groups == nothing.groups
    assert again.warnings == nothing.warnings
    np.testing.assert_array_equal(again.figures, nothing.figures)
    np.testing.assert_array_equal(again.peers["chi-square"], nothing.peers["chi-square"])
    assert joined([again, again]).n == 2 * SETS
    assert measured(tmp_path, cell, SETS // 2 - 5).n == SETS  # a piece is kept whole
    assert [one.name for one in tmp_path.iterdir()] == [path(tmp_path, cell, 0).name]


def test_cells_have_names_and_keys_of_their_own() -> None:
    cells = all_cells()
    assert len({(cell.section, cell.name) for cell in cells}) == len(cells)
    assert len({cell.key for cell in cells}) == len(cells)


def test_every_situation_stands_with_its_remedy() -> None:
    remedies: dict[str, list[bool]] = {}
    for one in situations.SITUATIONS:
        remedies.setdefault(one.name, []).append(bool(one.remedy))
    assert set(map(tuple, remedies.values())) == {(False, True)}


def test_pools_are_thinned_to_as_many_of_either_pool_and_no_more_is_lost() -> None:
    one = next(one for one in situations.SITUATIONS if one.remedy == situations.AS_MANY)
    annotations = one.draw(0).annotations
    own = np.array([int(name[1:]) for name in annotations.item_ids])[annotations.item] >= 150
    for pool in (own, ~own):
        assert set(np.bincount(annotations.rater[pool])) == {situations.OF_EITHER}
    assert annotations.n_raters > 0.8 * situations.RATERS


def test_the_document_is_written_of_all_cells(tmp_path: Path) -> None:
    of_layout: dict[tuple[object, ...], Measured] = {}

    def found(cell: Cell) -> Measured:
        # Cells with the same groups and peers look alike to the writer: one measurement stands for all.
        kind = (cell.axes, cell.of_peers, cell.section)
        if kind not in of_layout:
            of_layout[kind] = measure(cell, range(2))
        return of_layout[kind]

    write(tmp_path, found, 2)
    text = (tmp_path / "validity.md").read_text(encoding="utf-8")
    assert text.startswith("# Validity\n")
    tables = [block for block in text.split("\n\n") if block.startswith("| ")]
    assert all(len({row.count("|") for row in block.splitlines()}) == 1 for block in tables)
    assert len(tables) >= 6
    named = named_rows(text)
    assert len(set(named)) == len(named)
    documents = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    linked = {one for path in documents for one in targets(path.read_text(encoding="utf-8"))}
    to_here = {one.partition("#")[2] for one in linked if "validity.md#" in one}
    assert len(to_here) > 15
    assert to_here <= anchors(text)
    assert (tmp_path / "validity-power.svg").read_text(encoding="utf-8").startswith("<svg")
    with (tmp_path / "validity.csv").open(encoding="utf-8", newline="") as written:
        head, *rows = csv.reader(written)
    assert len(head) == len(TESTS) + 3
    kept = (ROOT / "docs" / "validity.csv").read_text(encoding="utf-8").splitlines()
    assert [row[:3] for row in rows] == [row[:3] for row in csv.reader(kept[1:])]


def test_apunim_stands_beside_ours_where_it_was_measured(nothing: Measured) -> None:
    asked = replace(nothing, groups=(("in",), ("25",), *nothing.groups[2:]))
    theirs = {name: p for name, p in nothing.peers.items() if name != "apunim"}
    assert "was not installed" in beside(lambda cell: replace(asked, peers=theirs))
    p = np.where(np.arange(SETS)[:, None] < SETS // 4, 0.01, 0.5).repeat(len(asked.groups), axis=1)
    text = beside(lambda cell: replace(asked, peers={**theirs, "apunim": p}))
    (table,) = (block for block in text.split("\n\n") if "| data sets | apunim |" in block)
    assert f"</a>nothing; crossed, 3 labels | {SETS} | .25 |" in table.splitlines()[2]


@pytest.mark.long
@pytest.mark.parametrize(
    ("test", "name"),
    [("distance", "teams of five within groups"), ("xrr", "another axis matters, Cramér's V .5")],
)
def test_a_remedy_takes_back_what_is_called_wrongly(test: str, name: str) -> None:
    without, with_remedy = (one.cell for one in situations.SITUATIONS if one.name == name)
    assert called(measure(without, range(20)), test, ("in",)).share > 0.4
    assert called(measure(with_remedy, range(20)), test, ("in",)).share < 0.25


def test_where_groups_rated_other_items_irr_is_called_of_nobody() -> None:
    without, with_remedy = (
        one.cell for one in situations.SITUATIONS if one.name == "the same, of harder items"
    )
    assert called(measure(without, range(4)), "irr", ("in",)).n == 0
    assert called(measure(with_remedy, range(4)), "irr", ("in",)).n == 4
