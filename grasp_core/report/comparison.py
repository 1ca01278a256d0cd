"""Two runs compared: differences in spec and data, and changes of groups, pairs and slices."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import pandas as pd

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.model.groups import Group, axis_label, group_label, one_line
from grasp_core.model.outcome import Direction, Interval, LabelUse, Outcome, Verdict
from grasp_core.model.result import Result, RunResult
from grasp_core.model.spec import RunSpec
from grasp_core.model.text import first_few, number, printable
from grasp_core.report.contents import CONVENTION_NAMES, chosen, counts_of, profiles_move
from grasp_core.report.slices import as_results
from grasp_core.report.tables import Column, cell_text, numbers, or_nan, shown_axes, texts
from grasp_core.report.words import names
from grasp_core.report.words.label_use import foremost, interval_of, mean_outcome, tested_as
from grasp_core.report.words.levels import left_out, step_sentence

_LAYOUTS = {
    "long": "one row per annotation",
    "items-by-raters": "one row per item",
    "raters-by-items": "one row per rater",
}
_COUNTED = ("annotations", "raters", "items")


def asked(spec: RunSpec) -> dict[str, str]:
    """Every field of a spec, in words."""
    analysis, data = spec.analysis, spec.data
    inside, across = analysis.gai
    models = [
        f"{one.name} ({f'SHA-256 {one.sha256[:8]}' if one.column is None else f'column {one.column}'})"
        for one in spec.models
    ]
    declared = [
        ", ".join(one.categories) if one.categories else "none; those found" for one in data.questions
    ]
    return {
        "Layout": _LAYOUTS[data.layout],
        "Item column": data.item or "none",
        **({} if data.items_id is None else {"Ids of the items file": data.items_id}),
        "Rater column": data.rater or "none",
        "Label column": ", ".join(data.labels) or data.label or "none",
        "Profile columns": ", ".join(data.profile) or "none",
        "Labels declared": "; ".join(declared),
        "Texts that mean missing": ", ".join(token or "(empty)" for token in data.missing) or "none",
        "Columns ignored": ", ".join(data.ignore) or "none",
        "Values recoded": "; ".join(step_sentence(step) for step in data.recode) or "none",
        "Left out": "; ".join(left_out(data)) or "nothing",
        **({"Models": "; ".join(models)} if models else {}),
        # Sorted, since their order changes nothing.
        "Axes and intersections": ", ".join(sorted(axis_label(tuple(sorted(one))) for one in analysis.axes)),
        "Given": ", ".join(analysis.given) or "none",
        "Slices": ", ".join(analysis.slices) or "none",
        "Statistics": ", ".join(names.WORDS[name].name for name in analysis.statistics),
        "GAI": f"{names.WORDS[inside].name} divided by {names.WORDS[across].name}",
        CONVENTION_NAMES["interval"]: chosen(analysis, "interval").label,
        "Pairs of groups": "compared" if analysis.pairs else "not compared",
        "Smallest group": f"{analysis.min_raters:,} raters",
        "Permutations": f"{'at most ' if analysis.adaptive else ''}{analysis.permutations:,}",
        "Seed": str(analysis.seed),
        "Profiles shuffled": profiles_move(analysis),
        **{
            called: chosen(analysis, field).label
            for field, called in CONVENTION_NAMES.items()
            if field != "interval"
        },
    }


_TOLD = 3
"""Number of fields that tell runs of one title apart."""
_SHORT = 60
"""Number of characters of such a field that are shown."""


def told_apart(spec: RunSpec, others: Iterable[RunSpec]) -> str:
    """What this spec was asked that not all others were, such as "Seed: 7"; empty if nothing differs."""
    of_others = [asked(one) for one in others]
    differ = [
        f"{name}: {text if len(text) <= _SHORT else f'{text[:_SHORT].rstrip()}…'}"
        for name, text in asked(spec).items()
        if any(one.get(name) != text for one in of_others)
    ]
    return one_line(printable(first_few(differ, _TOLD)))


def data_of(result: Result) -> dict[str, str]:
    """The data of a run, in numbers."""
    data = result.data
    labels = zip(data.categories, data.label_counts, strict=False)
    return {
        "Fingerprint (SHA-256)": data.sha256,
        **counts_of(data),
        "Annotations per label": ", ".join(f"{label}: {count:,}" for label, count in labels),
        "GRASP version": result.code_version,
    }


def difference(a: Outcome, b: Outcome) -> Interval | None:
    r"""Return the 95 % interval of b − a; None if either has none, or their targets differ.

    The ends are combined as for independent values (MOVER; Zou and Donner 2008): with value :math:`x` in
    :math:`[l, u]`, the lower end lies :math:`\sqrt{(x_b - l_b)^2 + (u_a - x_a)^2}` below the difference, the
    upper one :math:`\sqrt{(u_b - x_b)^2 + (x_a - l_a)^2}` above. Two runs that share raters or items move
    together; the interval is then wider than necessary.

    Source: Zou and Donner (2008), Construction of confidence limits about effect measures, Statistics in
    Medicine 27.
    """
    one, other = a.interval, b.interval
    if a.value is None or b.value is None or one is None or other is None or one.target != other.target:
        return None
    moved = b.value - a.value
    below = math.hypot(b.value - other.low, one.high - a.value)
    above = math.hypot(other.high - b.value, a.value - one.low)
    return Interval(moved - below, moved + above, other.target)


@dataclass(frozen=True, slots=True)
class Difference:
    """A field of the spec or the data that differs between two runs, in words."""

    what: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class Change:
    """One statistic in both runs, of a group, of a model and a group, or of a pair and its first group.

    For label use, `label` is furthest from chance in a, and `a` and `b` are its shifts; further labels and
    the mean have no mark of their own. For DSI, `group` attains it in a, and `group_b` in b. For a pair,
    `other` is its second group. `slice` is a column of items with its value.
    """

    group: Group
    statistic: str
    a: Outcome
    b: Outcome
    model: str | None = None
    label: str | None = None
    group_b: Group | None = None
    other: Group | None = None
    slice: tuple[str, str] | None = None

    @property
    def value_moved(self) -> float | None:
        """Value in b minus value in a; None if either is not estimable."""
        return _moved(self.a.value, self.b.value)

    @property
    def moved_interval(self) -> Interval | None:
        """The 95 % interval of :attr:`value_moved`, see :func:`difference`."""
        return difference(self.a, self.b)

    @property
    def q_moved(self) -> float | None:
        """Value of q in b minus q in a; None if either is missing."""
        return _moved(self.a.q, self.b.q)

    @property
    def changed_significance(self) -> bool:
        """True if the mark changed, or the direction of a marked value."""
        marked = self.a.significance != "none"
        turned = marked and self.a.direction != self.b.direction
        return turned or self.a.significance != self.b.significance

    @property
    def leaves_out_0(self) -> bool:
        """True if the interval of the change leaves out 0: the value moved further than noise explains."""
        interval = self.moved_interval
        return interval is not None and not interval.holds(0)

    @property
    def beyond_noise(self) -> bool:
        """True if the value moved further than noise explains, or its mark changed."""
        return self.changed_significance or self.leaves_out_0


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """The verdict of a group, or of both halves of an axis, in a and in b."""

    groups: tuple[Group, ...]
    a: Verdict
    b: Verdict

    @property
    def changed(self) -> bool:
        """True if the verdict changed, or the group that explains it."""
        return (self.a.code, self.a.by) != (self.b.code, self.b.by)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Run b compared with run a, which may be a run on earlier data.

    `counts`: annotations, raters and items, in a and in b.
    `other_version`: True if another version of GRASP computed b.
    `spec`, `data`: fields that differ; `data` is empty for the same files.
    `verdicts`: one per group in both runs, in the order of a; empty if either run has none.
    `changes`: every group and statistic in both, in the order of a.
    `statistics`: names that both report, in Table 5's order, then label use, the mean, and DSI.
    `only_a`, `only_b`: groups that only one run shows.
    """

    spec: tuple[Difference, ...]
    data: tuple[Difference, ...]
    verdicts: tuple[VerdictChange, ...]
    changes: tuple[Change, ...]
    statistics: tuple[str, ...]
    only_a: tuple[Group, ...]
    only_b: tuple[Group, ...]
    counts: tuple[tuple[str, int, int], ...]
    other_version: bool

    @property
    def with_interval(self) -> int:
        """Number of values whose difference has an interval."""
        return sum(change.moved_interval is not None for change in self.changes)

    @property
    def beyond(self) -> tuple[Change, ...]:
        """Changes whose interval leaves out 0."""
        return tuple(change for change in self.changes if change.leaves_out_0)

    @property
    def noise_alone(self) -> bool:
        """True if noise may explain all changes: there are intervals, all cover 0, no group came or went."""
        return bool(self.with_interval) and not (self.beyond or self.only_a or self.only_b)

    @property
    def changed(self) -> tuple[Change, ...]:
        """The changes of significance."""
        return tuple(change for change in self.changes if change.changed_significance)


def compare(a: Result, b: Result) -> Comparison | None:
    """Compare run b with run a; None if they are results of different types."""
    if type(a) is not type(b):
        return None
    rows_a, rows_b = _rows(a), _rows(b)
    statistics = tuple(name for name in _reported(a) if name in _reported(b))
    in_both = [(row, rows_b[key]) for key, row in rows_a.items() if key in rows_b]
    changes = [
        Change(row.group, name, row.outcomes[name], other.outcomes[name], row.model)
        for row, other in in_both
        for name in statistics  # the gap in place of a GAI is compared on its own
        if not any(isinstance(one.outcomes[name], names.InPlaceOfGai) for one in (row, other))
    ]
    beside = [change for row, other in in_both for change in use_changed(row.group, row.use, other.use)]
    beside.sort(key=lambda change: (names.LABEL_USE, names.LABELS, names.MEAN).index(change.statistic))
    if isinstance(a, RunResult) and isinstance(b, RunResult):  # each axis by the group that attains its DSI
        of_b = {frozenset(row.axes): row for row in shown_axes(b)}
        beside += [
            Change(one.group, names.DSI, one.outcome, other.outcome, group_b=other.group)
            for one, other in ((row, of_b.get(frozenset(row.axes))) for row in shown_axes(a))
            if other is not None and one.group is not None and other.group is not None
            if not any(isinstance(row.outcome, names.InPlaceOfGai) for row in (one, other))
        ]
    statistics = tuple(dict.fromkeys((*statistics, *(change.statistic for change in beside))))
    changes += beside
    groups_a, groups_b = ({key: row.group for (key, _), row in rows.items()} for rows in (rows_a, rows_b))
    return Comparison(
        spec=_differences(asked(a.spec), asked(b.spec)),
        data=_differences(data_of(a), data_of(b)),
        verdicts=tuple(_verdicts(a, b)),
        changes=tuple(changes),
        statistics=statistics,
        only_a=tuple(group for key, group in groups_a.items() if key not in groups_b),
        only_b=tuple(group for key, group in groups_b.items() if key not in groups_a),
        counts=tuple((one, getattr(a.data, one), getattr(b.data, one)) for one in _COUNTED),
        other_version=a.code_version != b.code_version,
    )


def _verdicts(a: Result, b: Result) -> Iterator[VerdictChange]:
    """Yield the verdicts of groups in both runs; two halves of an axis count as one."""
    if not isinstance(a, RunResult) or not isinstance(b, RunResult):
        return
    of_b, told = {row.group.key: row.verdict for row in b.groups}, set[Group]()
    for row in a.groups:
        before, now = row.verdict, of_b.get(row.group.key)
        if before is not None and now is not None and row.group not in told:
            both = before.other is not None and now.other is not None
            groups = (row.group, before.other) if both and before.other else (row.group,)
            told.update(groups)
            yield VerdictChange(groups, before, now)


def verdicts_table(verdicts: Iterable[VerdictChange]) -> pd.DataFrame:
    """One row per group, after a column for each axis."""
    rows = [(group, one) for one in verdicts for group in one.groups]
    return pd.DataFrame(
        {
            **_by_axis([group for group, _ in rows]),
            "group": [group_label(group) for group, _ in rows],
            "axis": [axis_label(group.axes) for group, _ in rows],
            **{f"verdict_{side}": [getattr(one, side).code for _, one in rows] for side in "ab"},
            **{
                f"{name}_{side}": [or_nan(getattr(getattr(one, side), name)) for _, one in rows]
                for side in "ab"
                for name in ("p", "q")
            },
        }
    )


def changes_table(changes: Iterable[Change]) -> pd.DataFrame:
    """One row per group and statistic."""
    return _table(changes, texts)


def changes_numbers(changes: Iterable[Change]) -> pd.DataFrame:
    """The table of :func:`changes_table` with numbers, for programs, after a column for each axis."""
    rows = list(changes)
    of_others = _by_axis([one.other for one in rows if one.other is not None], "other_")
    own = of_others | _by_axis([one.group for one in rows])
    frame = _table(rows, numbers)
    first = [name for name in ("slice", "pair") if name in frame]
    return frame.assign(**own)[[*first, *own, *(name for name in frame if name not in (*first, *own))]]


def _by_axis(groups: Sequence[Group], before: str = "") -> dict[str, Any]:
    """Columns of the groups' values, one for each axis."""
    values = [one.by_axis for one in groups]
    names = dict.fromkeys(name for one in groups for name in one.axes)
    return {before + name: [one.get(name) for one in values] for name in names}


def _table(
    changes: Iterable[Change], make: Callable[[Iterable[Column], Sequence[Change]], pd.DataFrame]
) -> pd.DataFrame:
    rows = list(changes)
    if not rows:
        return pd.DataFrame()
    pairs = any(one.other is not None for one in rows)
    shown = {"pair": pairs, "group": not pairs}
    shown |= {name: any(getattr(one, name) is not None for one in rows) for name in ("model", "slice")}
    return make([one for one in _changes() if shown.get(one.name, True)], rows)


def _changes() -> Iterator[Column]:
    """Columns of :func:`changes_table`, which has some numbers too, and of :func:`changes_numbers`."""

    def moved(end: str) -> Callable[[Change], Any]:
        return lambda change: change.moved_interval and getattr(change.moved_interval, end)

    yield Column(lambda change: " = ".join(map(one_line, change.slice)), "slice", name="slice")
    yield Column(
        lambda change: f"{group_label(change.group)} – {group_label(change.other)}", "pair", name="pair"
    )
    yield Column(whose, "group", name="group")
    yield Column(lambda change: axis_label(change.group.axes), "axis", name="axis")
    yield Column("model", "model", name="model")
    yield Column(tested, "statistic")
    yield Column("statistic", name="statistic")
    yield Column("label", name="label")
    yield Column("a", "a", cell_text)
    yield Column("b", "b", cell_text)
    yield Column("a.value", name="value_a", kind="value")
    yield Column("b.value", name="value_b", kind="value")
    yield Column("value_moved", "moved", or_nan, "moved", kind="value")
    yield Column("moved_interval", "moved_interval", names.format_interval)
    yield Column(moved("low"), name="moved_low", kind="value")
    yield Column(moved("high"), name="moved_high", kind="value")
    yield Column("a.q", "q_a", or_nan, "q_a", kind="p")
    yield Column("b.q", "q_b", or_nan, "q_b", kind="p")
    yield Column("q_moved", "q_moved", or_nan, "q_moved", kind="p")
    yield Column(became, "significance")
    yield Column("a.significance", name="mark_a")
    yield Column("b.significance", name="mark_b")


def differences_table(differences: Iterable[Difference]) -> pd.DataFrame:
    """Table of differences, with the columns `what`, `a` and `b` as text."""
    return pd.DataFrame(map(asdict, differences), columns=["what", "a", "b"])


def in_words(comparison: Comparison) -> tuple[str, ...]:
    """A sentence per statistic: how many groups changed their significance, and how far values moved."""
    found: dict[str, list[Change]] = {}
    for change in comparison.changes:
        found.setdefault(change.statistic, []).append(change)
    said = []
    for name, changes in ((name, found[name]) for name in comparison.statistics if name in found):
        moves = [abs(change.value_moved) for change in changes if change.value_moved is not None]
        most = f"the largest move of a value is {names.format_value(max(moves))}" if any(moves) else ""
        if name in (names.LABELS, names.MEAN):  # not tested on their own
            said.append(f"{names.statistic_name(name)}: {most or 'no value moved'}.")
            continue
        changed = sum(change.changed_significance for change in changes)
        what = "axis" if name == names.DSI else "group" if changes[0].model is None else "pair"
        many = number(len(changes), what, "axes" if name == names.DSI else None)
        many += "" if changes[0].model is None else " of model and group"
        turned = f"{changed or 'none'} of {many} changed significance{'; ' if most else ''}{most}"
        said.append(f"{names.statistic_name(name)}: {turned}.")
    return tuple(said)


def _moved(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else b - a


class _Row(NamedTuple):
    group: Group
    model: str | None
    outcomes: Mapping[str, Outcome]
    use: LabelUse | None = None


def use_changed(group: Group, a: LabelUse | None, b: LabelUse | None) -> Iterator[Change]:
    """Yield the changes of a group's label use, if both runs have one."""
    if a is None or b is None:
        return
    found = foremost(a)
    first = None if found is None else found[0]
    before, after = (
        one if one.value is None else tested_as(one, use) for use in (a, b) for one in (_alone(use, first),)
    )
    yield Change(group, names.LABEL_USE, before, after, label=first)
    if len(a.labels) > 2 or len(b.labels) > 2:  # with two labels, one gains what the other loses
        for label in a.labels:
            if label != first and label in b.labels:
                yield Change(group, names.LABELS, _alone(a, label), _alone(b, label), label=label)
    means = mean_outcome(a), mean_outcome(b)
    if means[0] is not None and means[1] is not None:
        yield Change(group, names.MEAN, means[0], means[1])


def _alone(use: LabelUse, label: str | None) -> Outcome:
    shift = None if label is None else use.labels.get(label)
    if shift is None or shift.value is None:
        return Outcome(None, reason=use.reason)
    direction: Direction = "down" if shift.value < 0 else "up"
    return Outcome(shift.value, direction=direction, interval=interval_of(use, shift))


def _rows(result: Result) -> dict[tuple[frozenset[tuple[str, str]], str | None], _Row]:
    """Map the group's values on axes, with a model or None, to the row of that group."""
    if isinstance(result, ModelsResult):
        rows = [
            _Row(row.group, name, side.statistics)
            for row in result.groups
            for name, side in row.models.items()
        ]
    else:
        groups = result.groups if isinstance(result, RunResult) else ()
        told = _reported(result)
        rows = [
            _Row(row.group, None, {name: names.shown_outcome(row, name) for name in told}, row.label_use)
            for row in groups
        ]
    return {(row.group.key, row.model): row for row in rows}


def _reported(result: Result) -> tuple[str, ...]:
    return tuple(names.SIDE_WORDS) if isinstance(result, ModelsResult) else result.spec.analysis.statistics


def whose(change: Change) -> str:
    """Name the group; for DSI, the group that attains it in a, and the one in b if it differs."""
    titles = [group_label(group) for group in (change.group, change.group_b) if group is not None]
    return " → ".join(dict.fromkeys(titles))


def tested(change: Change) -> str:
    """Name the statistic, with the label if it is the use of one label."""
    name = names.PAIR_NAMES.get(change.statistic) or names.statistic_name(change.statistic)
    return name if change.label is None else f"{name} (“{one_line(change.label)}”)"


def became(change: Change) -> str:
    """Say how a mark changed."""
    if change.statistic in (names.LABELS, names.MEAN):
        return "no mark of its own"
    before, after = (names.SIGNIFICANCE_NAMES[one.significance] for one in (change.a, change.b))
    if not change.changed_significance:
        return f"{before}, as before" if before != "not significant" else before
    if before == after:
        return f"{after}, in the other direction"
    return f"{before} → {after}"


def _differences(a: Mapping[str, str], b: Mapping[str, str]) -> tuple[Difference, ...]:
    return tuple(
        Difference(name, a.get(name, "–"), b.get(name, "–"))
        for name in dict.fromkeys([*a, *b])
        if a.get(name) != b.get(name)
    )


def pairs_compared(a: Result, b: Result) -> Iterator[Change]:
    """Yield the changes of all tests of the pairs in both runs."""
    if not isinstance(a, RunResult) or not isinstance(b, RunResult):
        return
    others = {(row.a.key, row.b.key): row for one in b.pairs for row in (one, one.turned())}
    for row, other in ((row, others.get((row.a.key, row.b.key))) for row in a.pairs):
        if other is not None:
            tested = [
                Change(row.a, name, outcome, other.statistics[name])
                for name, outcome in row.statistics.items()
                if name in other.statistics
            ]
            uses = use_changed(row.a, row.label_use, other.label_use)
            yield from (replace(one, other=row.b) for one in (*uses, *tested))


def slices_compared(a: Result, b: Result) -> Iterator[Change]:
    """Yield the changes of all tests in the slices that both runs have."""
    of_a, of_b = (
        {(found.column, one.value): view for found in run.slices for one, view in as_results(run, found)}
        if isinstance(run, RunResult)
        else {}
        for run in (a, b)
    )
    for key, view in of_a.items():
        found = compare(view, of_b[key]) if key in of_b else None
        yield from (replace(one, slice=key) for one in (() if found is None else found.changes))
