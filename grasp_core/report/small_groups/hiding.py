"""A result to a result without small groups, for all that is drawn or written of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import combinations

from grasp_core.groups import AxisSet, Group
from grasp_core.pairs import PairResult
from grasp_core.panels.models.result import ModelsResult
from grasp_core.remarks.cautions import Caution
from grasp_core.remarks.remark import Remark, Words
from grasp_core.report.small_groups.cover import LEAST, Cell, Line, left_out
from grasp_core.result import DsiResult, GivenResult, GroupResult, Result, RunResult, SlicesResult, Undecided
from grasp_core.verdict import Verdict


def hidden_groups(result: Result) -> frozenset[Group]:
    """The groups that people without an account do not see: those of few raters, and their covers."""
    if not isinstance(result, RunResult | ModelsResult):
        raise TypeError(type(result).__name__)
    sizes = {row.group: row.n_raters for row in result.groups}
    return frozenset(left_out(sizes, _lines(sizes, result.data.raters, listed=not _some_not_listed(result))))


def without_small_groups(result: Result) -> Result:
    """The result without groups of fewer than :data:`~grasp_core.report.small_groups.cover.LEAST` raters.

    Left out with them is what would tell of them: other groups, so that no size follows from totals; the
    DSI of axes that lost a group; pairs and marks of those groups; groups that are small on the items of a
    slice, with theirs; and how many groups there were.
    """
    hidden = hidden_groups(result)
    shown = replace(result, warnings=_warnings(result, hidden))
    if result.stopping is not None:
        marks = tuple(mark for mark in result.stopping.undecided if not _names(mark, hidden))
        shown = replace(shown, stopping=replace(result.stopping, undecided=marks))
    if isinstance(shown, ModelsResult):
        return replace(shown, groups=tuple(row for row in shown.groups if row.group not in hidden))
    if isinstance(shown, RunResult):
        return replace(
            shown,
            groups=_kept(shown.groups, hidden),
            dsi=_of_whole_axes(shown.dsi, hidden),
            assignment=tuple(check for check in shown.assignment if not check.groups & hidden),
            slices=tuple(_slices(found, hidden) for found in shown.slices),
            given=tuple(_given(found, hidden) for found in shown.given),
            pairs=tuple(row for row in shown.pairs if _large(row, hidden)),
            findable=() if hidden else shown.findable,  # their sizes are those of groups
        )
    raise TypeError(type(result).__name__)  # of a panel whose details nobody looked through


def some_hidden(shown: Result) -> bool:
    """Whether :func:`without_small_groups` gave the result without some group."""
    return any(warning.code is Caution.FEW_RATERS_HIDDEN for warning in shown.warnings)


def _some_not_listed(result: Result) -> bool:
    """Whether the run itself left out groups, whose raters are in no row."""
    codes = {warning.code for warning in result.warnings}
    return bool(codes & {Caution.SMALL_GROUPS, Words.TEXT}) and result.spec.analysis.min_raters > 1


def _lines(sizes: Mapping[Group, int], raters: int, *, listed: bool) -> list[Line]:
    """Groups that add up: those of an axis to all raters, those of an intersection to each group beside them.

    The total of a group that was not asked for counts as known: another intersection may tell it.
    """
    lines = []
    for axes in dict.fromkeys(group.axes for group in sizes):
        groups = [group for group in sizes if group.axes == axes]
        for size in range(len(axes)):
            for within in combinations(range(len(axes)), size):
                lines += _within(groups, within, sizes, raters, listed=listed)
    return lines


def _within(
    groups: Sequence[Group], within: tuple[int, ...], sizes: Mapping[Group, int], raters: int, *, listed: bool
) -> list[Line]:
    """A line for each group of these places of the axes."""
    lines: dict[tuple[str, ...], list[Cell]] = {}
    for group in groups:
        lines.setdefault(tuple(group.values[place] for place in within), []).append(group)
    axes = tuple(groups[0].axes[place] for place in within)
    by_values = {_sorted(group): group for group in sizes}
    found = []
    for values, cells in lines.items():
        margin = by_values.get(_sorted(Group(axes, values))) if within else None
        total = raters if not within else None if margin is None else sizes[margin]
        rest = 0 if listed or total is None else total - sum(map(sizes.__getitem__, cells))
        found.append(Line(tuple(cells), margin, rest))
    return found


def _sorted(group: Group) -> tuple[tuple[str, str], ...]:
    """The same for a group whose axes are named in another order."""
    return tuple(sorted(zip(group.axes, group.values, strict=True)))


def _kept(rows: Iterable[GroupResult], hidden: frozenset[Group]) -> tuple[GroupResult, ...]:
    return without_names(row for row in rows if row.group not in hidden and row.n_raters >= LEAST)


def without_names(rows: Iterable[GroupResult]) -> tuple[GroupResult, ...]:
    """The rows, whose verdicts name none but their groups."""
    kept = tuple(rows)
    shown = {row.group for row in kept}
    return tuple(replace(row, verdict=row.verdict and _without_names(row.verdict, shown)) for row in kept)


def _without_names(verdict: Verdict, shown: Set[Group]) -> Verdict:
    by, other = (group if group in shown else None for group in (verdict.by, verdict.other))
    return replace(verdict, by=by, other=other)


def _large(row: PairResult, hidden: frozenset[Group]) -> bool:
    return not {row.a, row.b} & hidden and min(row.n_raters_a, row.n_raters_b) >= LEAST


def _of_whole_axes(rows: Iterable[DsiResult], hidden: frozenset[Group]) -> tuple[DsiResult, ...]:
    """Those of axes all of whose groups are shown: the largest of all would tell of the others."""
    axes: set[AxisSet] = {group.axes for group in hidden}
    return tuple(row for row in rows if row.axes not in axes)


def _given(found: GivenResult, hidden: frozenset[Group]) -> GivenResult:
    return replace(found, groups=_kept(found.groups, hidden), dsi=_of_whole_axes(found.dsi, hidden))


def _slices(found: SlicesResult, hidden: frozenset[Group]) -> SlicesResult:
    """Slices without hidden groups and those that are small on their items.

    A group's annotations in all slices add up to all that it gave, so it is left out of none or of several.
    """
    sizes: dict[tuple[str, Group], int] = {}
    lines: list[Line] = []
    for value in found.values:
        of_slice = {row.group: row.n_raters for row in value.groups}
        sizes |= {(value.value, group): size for group, size in of_slice.items()}
        lines += [
            replace(
                line,
                cells=tuple((value.value, group) for group in line.cells),
                margin=None if line.margin is None else (value.value, line.margin),
            )
            for line in _lines(of_slice, value.raters, listed=False)
        ]
    groups = dict.fromkeys(row.group for value in found.values for row in value.groups)
    lines += [
        Line(tuple((value.value, group) for value in found.values if (value.value, group) in sizes))
        for group in groups
        if group not in hidden and not found.without
    ]
    gone = left_out(sizes, lines, [cell for cell in sizes if cell[1] in hidden])
    return replace(
        found,
        values=tuple(
            replace(
                value,
                groups=_kept(value.groups, out),
                dsi=_of_whole_axes(value.dsi, out),
            )
            for value in found.values
            for out in [frozenset(row.group for row in value.groups if (value.value, row.group) in gone)]
        ),
    )


def _names(mark: Undecided, hidden: frozenset[Group]) -> bool:
    axes = {group.axes for group in hidden}
    return bool({mark.group, mark.other} & hidden) or (mark.group is None and mark.axes in axes)


def _warnings(result: Result, hidden: frozenset[Group]) -> tuple[Remark, ...]:
    """Warnings whose numbers count shown groups alone, and one that says that others are not shown."""
    codes = {Caution.SMALL_GROUPS, Caution.FEW_REGROUPINGS}
    told = [warning for warning in result.warnings if warning.code not in codes]
    rows = [row for row in getattr(result, "groups", ()) if row.group not in hidden]
    few = sum(getattr(row, "least_p", None) is not None for row in rows)
    if few and any(warning.code is Caution.FEW_REGROUPINGS for warning in result.warnings):
        told.append(Caution.FEW_REGROUPINGS(few=few, groups=len(rows)))
    if hidden or any(warning.code is Caution.SMALL_GROUPS for warning in result.warnings):
        told.append(Caution.FEW_RATERS_HIDDEN(least=LEAST))
    return tuple(told)
