"""Repeated answers of a rater to an item: refused, or one is chosen by time; equal answers count once."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Literal

import numpy as np

from grasp_core.model.annotations import BoolArray, Codes, sorted_keys, tallied
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError, Problem, know, stop
from grasp_core.model.remarks.cautions import LeftOutReason
from grasp_core.model.remarks.problems import DataProblem
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.text import EXAMPLES, quoted
from grasp_core.reading.dataset.votes import Votes
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import parts_of

_MANY, _OFTEN = 5, 0.1
"""Number and share of pairs of rater and item with several labels from which rows are chosen options."""


def chosen(votes: Votes, spec: DataSpec) -> BoolArray:
    """Return the entries to keep of several labels of a rater for an item: first or last, by the spec."""
    keep = np.ones(votes.size, dtype=np.bool_)
    order, again = _in_runs(votes)
    if not again.any():
        return keep
    # Pairs with several labels; `run` and `again` are in the order of runs.
    label, run = votes.label[order], np.cumsum(~again, dtype=np.int64) - 1
    start = np.maximum.accumulate(np.where(again, 0, np.arange(label.size)))
    several = np.zeros(run[-1] + 1, dtype=np.bool_)
    several[run[label != label[start]]] = True
    entries = order[several[run]]
    if entries.size:
        rank = np.arange(entries.size) if spec.order is None else _by_time(votes, entries, spec)
        keep[entries] = _chosen(votes, entries, run[several[run]], rank, spec)
    return keep


def others(spec: DataSpec) -> Remark:
    """Name the answers that are left out because another one is chosen."""
    which = "later" if spec.repeated == "first" else "earlier"
    if spec.order is None:
        return LeftOutReason.ANSWERED_AGAIN(which=which)
    return LeftOutReason.ANSWERED_AGAIN_BY_TIME(which=which, column=spec.order)


def once(votes: Votes, spec: DataSpec) -> tuple[Votes, list[Problem]]:
    """Keep one of equal annotations; different labels of one rater for one item are a problem that stops."""
    order, again = _in_runs(votes)
    if not order.size:
        return votes, []
    # The position, in `order`, of the first annotation of each run of equal keys.
    start = np.maximum.accumulate(np.where(again, 0, np.arange(order.size)))
    label = votes.label[order]
    differs = again & (label != label[start])
    equal = order[again & ~differs]
    problems: list[Problem] = []
    if differs.any():
        splits = _splits(votes, spec, order, np.cumsum(~again))
        problems.append(_contradiction(votes, spec, order[start[differs]], order[differs], splits))
    if equal.size:
        rows = [votes.table.row(votes.row[entry]) for entry in np.sort(equal)[:EXAMPLES]]
        remark = DataProblem.REPEATED(annotations=equal.size, file=votes.table.name, row=rows[0])
        problems.append(know(remark, equal.size, [f"row {row}" for row in rows]))
    keep = np.ones(votes.size, dtype=np.bool_)
    keep[order[again]] = False
    return votes.keep(keep), problems


def _in_runs(votes: Votes) -> tuple[Codes, BoolArray]:
    """Return entries of repeated pairs by item, rater and file order, and a mask of those after the first."""
    n_raters = len(votes.rater_ids)
    per_item = tallied(votes.item, len(votes.item_ids))
    repeated = [np.empty(0, np.int64)]  # numbers of repeated pairs, ascending
    for first, same in sorted_keys(votes.pieces, per_item, (n_raters,)):
        repeated.append(first * n_raters + np.unique(same[1:][same[1:] == same[:-1]]))
    pairs = np.concatenate(repeated)
    found, keys, at = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
    for item, rater, _ in votes.pieces() if pairs.size else ():
        counts = item >= 0
        key = item[counts].astype(np.int64) * n_raters + rater[counts]
        here = np.flatnonzero(pairs[np.searchsorted(pairs[:-1], key)] == key)
        found.append(at + here)
        keys.append(key[here])
        at += key.size
    entries, of_entries = np.concatenate(found), np.concatenate(keys)
    order = np.argsort(of_entries, kind="stable")
    again = np.zeros(order.size, dtype=np.bool_)
    again[1:] = np.diff(of_entries[order]) == 0
    return entries[order], again


def _by_time(votes: Votes, entries: Codes, spec: DataSpec) -> Codes:
    name = str(spec.order)
    column = votes.table.column(name)
    where = f"{votes.table.name}, column {quoted(name)}"
    codes = column.codes[votes.row[entries]]
    used = np.unique(codes)
    without = [
        code for code in used if column.values[code] in spec.missing or not column.values[code].strip()
    ]
    if without:
        entry = int(entries[np.isin(codes, without)][0])
        item, rater = _pair(votes, entry)
        row = votes.table.row(votes.row[entry])
        raise DataError(
            DataProblem.TIME_MISSING(file=votes.table.name, row=row, column=name, item=item, rater=rater)
        )
    rank = ranks(where, [column.values[code] for code in used], column.values)
    by_code = np.zeros(len(column.values), dtype=np.int64)
    by_code[used] = [rank[column.values[code]] for code in used]
    found: Codes = by_code[codes]
    return found


def _chosen(votes: Votes, entries: Codes, runs: Codes, rank: Codes, spec: DataSpec) -> BoolArray:
    """Return a mask of the contested entries that count: one of each run."""
    order = np.lexsort((np.arange(entries.size), rank if spec.repeated == "first" else -rank, runs))
    heads = np.ones(entries.size, dtype=np.bool_)
    heads[1:] = runs[order][1:] != runs[order][:-1]
    head = order[np.maximum.accumulate(np.where(heads, np.arange(entries.size), 0))]
    label = votes.label[entries]
    tied = (rank[order] == rank[head]) & (label[order] != label[head])
    if tied.any():
        one, other = (int(entries[positions[tied][0]]) for positions in (head, order))
        first, second = sorted(votes.table.row(votes.row[entry]) for entry in (one, other))
        item, rater = _pair(votes, one)
        remark = DataProblem.SAME_TIME(
            file=votes.table.name,
            first=first,
            second=second,
            column=str(spec.order),
            item=item,
            rater=rater,
            which=spec.repeated,
        )
        raise DataError(remark)
    kept = np.zeros(entries.size, dtype=np.bool_)
    kept[order[heads]] = True
    return kept


def _pair(votes: Votes, entry: int) -> tuple[str, str]:
    return votes.item_ids[votes.item[entry]], votes.rater_ids[votes.rater[entry]]


def _splits(votes: Votes, spec: DataSpec, order: Codes, run: Codes) -> Iterator[tuple[str, int]]:
    """Yield recurring columns beside ids and labels, and how many contradictions each leaves in pairs."""
    if spec.layout != "long":
        return
    table, label = votes.table, votes.label[order]
    taken = {name for one in (spec.item, spec.rater) for name in (one, *parts_of(str(one), table.columns))}
    for name in table.columns:
        aside = (names.META - names.PHASES) | names.AGGREGATE
        if name in {*taken, *spec.labels} or names.mentions(name, aside) or names.names_answer(name):
            continue
        column = table.column(name)
        codes = column.codes[votes.row[order]]
        if 2 * np.unique(codes).size <= codes.size and not _decides(votes, column.codes, order):
            pairs = run.astype(np.int64) * len(column.values) + codes
            _, first, pair = np.unique(pairs, return_index=True, return_inverse=True)
            yield name, int((label != label[first][pair]).sum())


def _decides(votes: Votes, codes: Codes, order: Codes) -> bool:
    """Return whether each value of a column has one label, as a class's number has; it then splits no id."""
    for entries in (order, slice(None)):
        values, label = codes[votes.row[entries]], votes.label[entries]
        both = np.unique(values.astype(np.int64) * (len(votes.labels) + 1) + label + 1)
        if both.size > np.unique(values).size or np.unique(label).size < 2:
            return False
    return True


def _contradiction(
    votes: Votes, spec: DataSpec, earlier: Codes, later: Codes, splits: Iterable[tuple[str, int]]
) -> Problem:
    def shown(position: int) -> str:
        before, after = int(earlier[position]), int(later[position])
        rater, item = votes.rater_ids[votes.rater[after]], votes.item_ids[votes.item[after]]
        first, second = (
            f"{quoted(votes.labels[votes.label[entry]])} in row {votes.table.row(votes.row[entry])}"
            for entry in (before, after)
        )
        return f"rater {quoted(rater)} gives item {quoted(item)} the labels {first} and {second}"

    by_row = np.argsort(later)
    example = shown(by_row[0])
    pairs = np.unique(earlier).size
    many = pairs >= max(_MANY, _OFTEN * (votes.size - later.size))
    left = {name: cases for name, cases in splits if cases < later.size}
    ids = {name: names.id_score(name, names.ITEM | names.PARTS) for name in left}
    able = [name for name in left if not left[name] or (ids[name] and 2 * left[name] <= later.size)]
    column = min(able, key=lambda name: (-ids[name], left[name]), default=None)
    field = "repeated"
    if column is not None:
        told = DataProblem.ANSWERED_TWICE_BUT_FOR(
            file=votes.table.name,
            example=example,
            more=later.size - 1,
            column=column,
            left=left[column],
            item=str(spec.item),
            rater=str(spec.rater),
        )
    else:
        more, columns = later.size - 1, tuple(sorted(left, key=lambda name: left[name]))
        code, beside = DataProblem.ANSWERED_TWICE, {}
        if 2 * int(_in_runs(votes)[1].sum()) > votes.size:  # most would be left out
            code, field, beside = DataProblem.MOSTLY_ANSWERED_TWICE, "item", {"columns": columns}
        elif many:
            code, beside = DataProblem.MANY_ANSWERED_TWICE, {"columns": columns}
        told = code(file=votes.table.name, example=example, more=more, **beside)
    return stop(told, later.size, [shown(position) for position in by_row[:EXAMPLES]], field=field)


DayFirst = Literal["day first", "month first"]

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
_ZONES = {"z": 0, "utc": 0, "gmt": 0, "ut": 0} | {
    f"{letter}{kind}t": hours + (kind == "d")
    for letter, hours in (("e", -5), ("c", -6), ("m", -7), ("p", -8))
    for kind in "sd"
}
"""Hours from Greenwich by zone name in RFC 5322; other names may mean several zones."""
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(:(?P<second>\d{2})([.,](?P<fraction>\d+))?)?"
    r"( ?(?P<half>[AaPp])\.?[Mm]\.?)?"
)
_ZONE = r"( ?(?P<zone>[A-Za-z]{1,5}(?=$| )|(?:UTC|GMT)?[+-]\d{2}:?(?:\d{2})?))?"
_DATES = (
    r"(?P<year>\d{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})",
    r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})",
    r"(?P<one>\d{1,2})(?P<sep>[-/])(?P<two>\d{1,2})(?P=sep)(?P<year>\d{4})",
    r"(?P<day>\d{1,2})[ -](?P<name>[A-Za-z]{3,9})\.?,?[ -](?P<year>\d{4})",
    r"(?P<name>[A-Za-z]{3,9})\.? (?P<day>\d{1,2}),? (?P<year>\d{4})",
)
_DAY = r"((?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? )?"
_FORMS = (
    *(re.compile(rf"{_DAY}{date}((T|,? | at ){_CLOCK}{_ZONE})?", re.IGNORECASE) for date in _DATES),
    re.compile(
        rf"{_DAY}(?P<name>[A-Za-z]{{3,9}}) (?P<day>\d{{1,2}}) {_CLOCK}{_ZONE} (?P<year>\d{{4}})",
        re.IGNORECASE,
    ),
)
_IN_BRACKETS = re.compile(r" \([^()]*\)$")  # a zone's long name, which repeats the offset before it


@dataclass(frozen=True, slots=True)
class _Moment:
    """A point in time; only points of one `kind` can be ordered."""

    kind: str
    at: Decimal


def ranks(where: str, texts: Iterable[str], column: Collection[str]) -> dict[str, int]:
    """Rank points in time; the whole column decides whether 3/4/2024 begins with the day."""
    wanted = dict.fromkeys(texts)
    order: DayFirst | None = None
    slashed = next((text for text in wanted if _slashed(text) is not None), None)
    if slashed is not None:
        order = _day_or_month(where, column, slashed)
    moments = {text: _moment(where, text, order) for text in wanted}
    examples = {moment.kind: text for text, moment in moments.items()}
    if len(examples) > 1:
        (one, first), (two, second), *_ = examples.items()
        remark = DataProblem.TIMES_OF_SEVERAL_KINDS(
            where=where, value=first, kind=one, other=second, other_kind=two
        )
        raise DataError(remark)
    place = {at: rank for rank, at in enumerate(sorted({moment.at for moment in moments.values()}))}
    return {text: place[moment.at] for text, moment in moments.items()}


def _slashed(text: str) -> tuple[int, int] | None:
    """Return the two small numbers of a date such as 3/4/2024."""
    found = _FORMS[2].fullmatch(_plain(text))
    return None if found is None else (int(found["one"]), int(found["two"]))


def _plain(text: str) -> str:
    return _IN_BRACKETS.sub("", " ".join(text.split()))


def _day_or_month(where: str, column: Iterable[str], example: str) -> DayFirst:
    pairs = {text: pair for text in column if (pair := _slashed(text)) is not None}
    day = next((text for text, (one, _) in pairs.items() if one > 12), None)
    month = next((text for text, (_, two) in pairs.items() if two > 12), None)
    if day is not None and month is not None:
        raise DataError(DataProblem.DAY_AND_MONTH_FIRST(where=where, day=day, month=month))
    if day is None and month is None:
        raise DataError(DataProblem.DAY_OR_MONTH(where=where, value=example))
    return "month first" if month is not None else "day first"


def _moment(where: str, text: str, order: DayFirst | None) -> _Moment:
    plain = _plain(text)
    try:
        if _NUMBER.fullmatch(plain):
            return _Moment("a number", Decimal(plain))
        found = next(filter(None, (form.fullmatch(plain) for form in _FORMS)), None)
        if found is None:
            raise ValueError
        return _at(found.groupdict(), order)
    except (InvalidOperation, ValueError, OverflowError):
        raise DataError(DataProblem.NO_TIME(where=where, value=text)) from None


def _at(parts: Mapping[str, str | None], order: DayFirst | None) -> _Moment:
    month, day = _month(parts, order)
    hour = int(parts.get("hour") or 0)
    half = (parts.get("half") or "").lower()
    if half:
        if not 1 <= hour <= 12:
            raise ValueError
        hour = hour % 12 + (12 if half == "p" else 0)
    clock = (hour, int(parts.get("minute") or 0), int(parts.get("second") or 0))
    moment = datetime(int(str(parts["year"])), month, day, *clock, tzinfo=UTC)
    kind, offset = _zone(parts.get("zone"))
    seconds = (moment - datetime(1970, 1, 1, tzinfo=UTC) - offset) // timedelta(seconds=1)
    return _Moment(kind, Decimal(f"{seconds}") + Decimal(f"0.{parts.get('fraction') or 0}"))


def _month(parts: Mapping[str, str | None], order: DayFirst | None) -> tuple[int, int]:
    if parts.get("name") is not None:
        name = str(parts["name"]).lower()
        found = [month for month in _MONTHS if name in (month, month[:3], month[:4])]
        if not found:
            raise ValueError
        return _MONTHS.index(found[0]) + 1, int(str(parts["day"]))
    if parts.get("one") is not None:
        one, two = int(str(parts["one"])), int(str(parts["two"]))
        return (two, one) if order == "day first" else (one, two)
    return int(str(parts["month"])), int(str(parts["day"]))


def _zone(zone: str | None) -> tuple[str, timedelta]:
    """Return the kind of times comparable with a zone's, and its offset from Greenwich."""
    if zone is None:
        return "a time without its zone", timedelta()
    if zone.lower() in _ZONES:
        return "a time with its zone", timedelta(hours=_ZONES[zone.lower()])
    digits = zone.lower().removeprefix("utc").removeprefix("gmt")
    if digits[0] not in "+-":
        return f"a time in the zone {quoted(zone)}", timedelta()
    hours, minutes = int(digits[1:3]), int(digits[3:].lstrip(":") or 0)
    distance = timedelta(hours=hours, minutes=minutes)
    return "a time with its zone", -distance if digits[0] == "-" else distance
