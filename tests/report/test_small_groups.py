"""Small groups, and what would tell of them, are nowhere in what people without an account get."""

import io
import random
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.analysis.small_groups import LEAST, CellSum, hidden_groups, left_out, without_small_groups
from grasp_core.model.groups import Group
from grasp_core.model.remarks.cautions import Caution, GuardCaution
from grasp_core.model.result import (
    DsiResult,
    GivenResult,
    RunResult,
    SliceResult,
    SlicesResult,
    Stopping,
    Undecided,
)
from grasp_core.report.public_view import public_view
from grasp_core.report.writers.registry import EXPORTS
from tests.results import asked, make_group, make_outcome, make_pair, make_result

Table = dict[tuple[str, str], int]


def result_of(table: Table, axes: tuple[tuple[str, ...], ...], raters: int | None = None) -> RunResult:
    """A result whose groups have the sizes of a table of two axes."""
    sizes: dict[Group, int] = {}
    for axis in axes:
        for values, size in table.items():
            chosen = tuple(values[("race", "gender").index(name)] for name in axis)
            group = Group(axis, chosen)
            sizes[group] = sizes.get(group, 0) + size
    rows = tuple(
        replace(make_group("x", raters=size, gai=make_outcome(1.0, "up")), group=group)
        for group, size in sizes.items()
        if size
    )
    result = make_result(rows, statistics=("gai",), min_raters=1, axes=axes)
    total = sum(table.values()) if raters is None else raters
    return replace(result, data=replace(result.data, raters=total), warnings=())


def of_one_axis(**sizes: int) -> RunResult:
    return result_of({(name, "any"): size for name, size in sizes.items()}, (("race",),))


def hidden(result: RunResult) -> set[str]:
    return {group.label for group in hidden_groups(result)}


@pytest.mark.parametrize(
    ("sizes", "gone"),
    [
        ({"A": 40, "B": 30, "C": 20}, set()),
        ({"A": 40, "B": 30, "C": 5}, set()),
        ({"A": 25, "B": 20, "C": 4}, {"A", "C"}),  # the first by name, not by size
        ({"A": 40, "B": 20, "C": 4}, {"B", "C"}),  # a large group only in need
        ({"A": 40, "B": 30, "C": 4}, {"A", "C"}),
        ({"A": 40, "B": 4}, {"A", "B"}),
        ({"A": 40, "B": 4, "C": 4}, {"A", "B", "C"}),
        ({"A": 40, "B": 30, "C": 20, "D": 3, "E": 2}, {"C", "D", "E"}),
        ({"A": 40, "B": 30, "C": 4, "D": 4, "E": 2}, {"C", "D", "E"}),  # each other's cover
        ({"A": 40, "B": 6, "C": 2}, {"A", "B", "C"}),  # 8 raters are not cover enough
        ({"A": 40, "B": 9, "C": 5, "D": 1}, {"B", "D"}),
        ({"A": 5, "B": 5, "C": 5, "D": 1}, {"A", "B", "D"}),
    ],
)
def test_a_small_group_goes_with_its_cover(sizes: dict[str, int], gone: set[str]) -> None:
    assert hidden(of_one_axis(**sizes)) == gone


def test_one_small_group_of_the_example_goes_with_three_others() -> None:
    races = ("Asian", "Black", "Latine", "Multiracial", "White")
    sizes = (12, 9, 7, 16, 10, 12, 9, 4, 9, 16)
    table = dict(zip(product(races, ("Man", "Woman")), sizes, strict=True))
    gone = hidden(result_of(table, (("race",), ("gender",), ("race", "gender"))))
    assert gone == {"Multiracial, Woman", "Multiracial, Man", "Asian, Woman", "Asian, Man"}


def drawn(rng: random.Random, *, crossed: bool) -> Table:
    def weights(least: int, most: int) -> list[float]:
        return [rng.gammavariate(rng.choice((0.7, 2, 6)), 1) for _ in range(rng.randint(least, most))]

    races, genders, raters = weights(2, 7), weights(2, 4) if crossed else [1.0], rng.randint(8, 150)
    race = rng.choices("ABCDEFG"[: len(races)], races, k=raters)
    return dict(Counter(zip(race, rng.choices("WXYZ"[: len(genders)], genders, k=raters), strict=True)))


def in_two_parts(table: Table, axes: tuple[tuple[str, ...], ...]) -> tuple[dict[Group, int], list[int]]:
    """The groups that are shown, and the sizes of the others."""
    result = result_of(table, axes)
    gone = hidden_groups(result)
    shown = {row.group: row.n_raters for row in result.groups if row.group not in gone}
    return shown, sorted(row.n_raters for row in result.groups if row.group in gone)


@pytest.mark.long
@pytest.mark.parametrize("crossed", [False, True])
def test_sizes_are_worked_out_in_few_views_by_who_knows_the_rule_and_all_groups(crossed: bool) -> None:
    axes = (("race",), ("gender",), ("race", "gender")) if crossed else (("race",),)
    rng = random.Random(1)
    views = worked_out = 0
    for _ in range(600 if crossed else 4_000):
        table = drawn(rng, crossed=crossed)
        shown, out = in_two_parts(table, axes)
        if not shown or not out:
            continue
        views += 1
        others = (in_two_parts(other, axes) for other in other_tables(table, shown))
        worked_out += not any(
            left == shown and len(sizes) == len(out) and sizes != out for left, sizes in others
        )
    assert views > 400
    assert worked_out < 0.01 * views


def test_raters_of_no_group_need_no_cover_unless_groups_were_left_out() -> None:
    table = {("A", "any"): 40, ("B", "any"): 30}
    result = result_of(table, (("race",),), raters=72)
    assert hidden(result) == set()
    left = Caution.SMALL_GROUPS(small=1, groups=3, least=3)
    result = replace(asked(result, min_raters=3), warnings=(left,))
    assert hidden(result) == {"A"}
    assert left not in public_view(result).warnings
    assert left in public_view(result, small_groups=True).warnings


def test_a_cell_that_rows_and_columns_tell_is_covered_in_both() -> None:
    table = dict(zip(product("ABC", "XY"), (20, 20, 20, 20, 20, 3), strict=True))
    gone = hidden(result_of(table, (("race",), ("gender",), ("race", "gender"))))
    assert gone == {"C, Y", "C, X", "A, Y", "A, X"}


def test_totals_stay_while_cells_can_cover() -> None:
    sizes = (26, 10, 32, 31, 14, 4, 3, 7, 4, 1)
    table = dict(zip(product("AB", "VWXYZ"), sizes, strict=True))
    gone = hidden(result_of(table, (("race",), ("gender",), ("race", "gender"))))
    assert gone == {f"{row}, {column}" for row in "AB" for column in "VWYZ"}


tables = st.lists(st.integers(0, 40), min_size=6, max_size=12).map(
    lambda sizes: dict(zip(product("ABCDEF", "XY"), sizes, strict=False))
)
axis_sets = st.sampled_from(
    [
        (("race",),),
        (("race",), ("gender",)),
        (("race", "gender"),),
        (("race",), ("gender", "race")),
        (("race",), ("gender",), ("race", "gender")),
    ]
)


def other_tables(table: Table, shown: dict[Group, int]) -> Iterator[Table]:
    """Tables with which a reader would see the very same groups, found by moving raters in circles."""
    names = [name for name in table if Group(("race", "gender"), name) not in shown]
    moves = [{a: 1, b: -1} for a, b in product(names, names) if a != b]
    moves += [
        {(a, x): 1, (a, y): -1, (b, x): -1, (b, y): 1}
        for (a, x), (b, y) in product(names, names)
        if a != b and x != y and (a, y) in table and (b, x) in table
    ]
    for move in moves:
        for times in (1, 2, 3):
            moved = {key: size + times * move.get(key, 0) for key, size in table.items()}
            if min(moved.values()) >= 0 and all(
                sum_of(moved, group) == size for group, size in shown.items()
            ):
                yield moved


def sum_of(table: Table, group: Group) -> int:
    asked = group.by_axis
    return sum(
        size
        for (race, gender), size in table.items()
        if asked.get("race", race) == race and asked.get("gender", gender) == gender
    )


@given(tables, axis_sets)
def test_no_size_of_a_small_group_follows_from_what_is_left(
    table: Table, axes: tuple[tuple[str, ...], ...]
) -> None:
    result = result_of(table, axes)
    shown = without_small_groups(result)
    sizes = {row.group: row.n_raters for row in result.groups}
    left = {row.group: row.n_raters for row in shown.groups}
    assert all(size >= LEAST for size in left.values())
    small = {group for group, size in sizes.items() if size < LEAST}
    others = list(other_tables(table, left))
    for group in small if left else ():
        assert any(sum_of(other, group) != sizes[group] for other in others), (group, sizes, left)


def test_a_chain_of_lines_tells_nothing_either() -> None:
    """Two cells out in each line, and yet the one that joins two circles would follow from them."""
    sizes = {name: 20 for name in ("a", "b", "c", "d", "e", "f", "g", "h", "shown")} | {"bridge": 3}
    lines = [
        CellSum(("a", "b")), CellSum(("c", "d")), CellSum(("a", "c")), CellSum(("b", "d", "bridge", "shown")),
        CellSum(("e", "f")), CellSum(("g", "h")), CellSum(("e", "g")), CellSum(("f", "h", "bridge", "shown")),
    ]  # fmt: skip
    assert "shown" in left_out(sizes, lines, "abcdefgh")


HIDDEN = ("Tiny", "Covering")


def telling() -> RunResult:
    """A result that names a small group and its cover wherever groups are named."""
    sizes = {"Large": 60, "Other": 50, "Covering": 41, "Tiny": 3}
    rows = tuple(
        make_group(name, raters=size, gai=make_outcome(1.0, "up", "**"), xrr=make_outcome(0.2, "up"))
        for name, size in sizes.items()
    )
    tiny = rows[-1]
    outcome = tiny.statistics["gai"]
    dsi = (DsiResult(("gender",), tiny.group, outcome, 0.01, "corrected"),)
    named = {"axis": "gender", "group": "Tiny"}
    sliced = SliceResult("on A", 9, 100, 900, rows, dsi)
    small_there = replace(rows[1], n_raters=4)
    other = SliceResult("on B", 9, 100, 900, (rows[0], small_there, *rows[2:]), dsi)
    result = make_result(rows, dsi=dsi, statistics=("xrr", "gai"), axes=(("gender",),))
    return replace(
        result,
        data=replace(result.data, raters=sum(sizes.values())),
        pairs=tuple(make_pair("Large", name, "gender", xrr=outcome) for name in HIDDEN),
        slices=(SlicesResult("topic", 0, (sliced, other)),),
        given=(GivenResult("race", rows, dsi),),
        warnings=(GuardCaution.OWN_WORKLOAD(times=4.0, **named), Caution.FEW_REGROUPINGS(few=1, groups=4)),
        stopping=Stopping(200, 0.001, (Undecided(("gender",), tiny.group, "gai", True),)),
    )


@pytest.mark.parametrize("name", list(EXPORTS))
def test_no_file_names_a_group_that_is_left_out(name: str) -> None:
    def texts(result: RunResult) -> str:
        content = EXPORTS[name].make(result)
        if name != "xlsx":
            return content.decode()
        with zipfile.ZipFile(io.BytesIO(content)) as book:
            return "".join(book.read(member).decode("utf-8", "replace") for member in book.namelist())

    whole, shown = telling(), public_view(telling())
    if name != "spec":
        assert all(group in texts(whole) for group in HIDDEN)
        assert "Large" in texts(shown)
    assert not any(group in texts(shown) for group in HIDDEN)


def test_what_is_found_of_all_groups_of_an_axis_goes_with_one() -> None:
    shown = public_view(telling())
    assert [row.group.label for row in shown.groups] == ["Large", "Other"]
    assert shown.dsi == shown.pairs == shown.given[0].dsi == ()
    assert [warning.code for warning in shown.warnings] == [Caution.FEW_RATERS_HIDDEN]
    assert shown.stopping.undecided == ()
    first, second = shown.slices[0].values
    assert [row.group.label for row in first.groups] == ["Large"]  # all slices add up to what Other said
    assert [row.group.label for row in second.groups] == ["Large"]
