"""Points in time as people and programs write them, put in order: numbers, ISO 8601, common dates."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Literal

from grasp_core.model.errors import DataError
from grasp_core.model.remarks.problems import DataProblem
from grasp_core.model.text import quoted

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
"""Hours from Greenwich of the names that RFC 5322 knows; other names may mean several zones."""
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
_IN_BRACKETS = re.compile(r" \([^()]*\)$")
"""A zone's long name, which repeats the offset before it."""


@dataclass(frozen=True, slots=True)
class _Moment:
    """A point in time; only those of one `kind` can be put in order."""

    kind: str
    at: Decimal


def ranks(where: str, texts: Iterable[str], column: Collection[str]) -> dict[str, int]:
    """The order of points in time.

    - `column`: all of the column's texts, or none where they are not known: they tell whether 3/4/2024 names
      the day or the month first.
    """
    wanted = dict.fromkeys(texts)
    order: DayFirst | None = None
    slashed = next((text for text in wanted if _slashed(text) is not None), None)
    if slashed is not None:
        order = _day_or_month(where, column, slashed)
    moments = {text: _moment(where, text, order) for text in wanted}
    _comparable(where, moments)
    place = {at: rank for rank, at in enumerate(sorted({moment.at for moment in moments.values()}))}
    return {text: place[moment.at] for text, moment in moments.items()}


def _slashed(text: str) -> tuple[int, int] | None:
    """The two small numbers of a date such as 3/4/2024."""
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
    if _NUMBER.fullmatch(plain):
        try:
            return _Moment("a number", Decimal(plain))
        except InvalidOperation:
            raise _no_time(where, text) from None
    found = next((match for form in _FORMS if (match := form.fullmatch(plain))), None)
    if found is None:
        raise _no_time(where, text)
    try:
        return _at(found.groupdict(), order)
    except (ValueError, OverflowError):
        raise _no_time(where, text) from None


def _no_time(where: str, text: str) -> DataError:
    return DataError(DataProblem.NO_TIME(where=where, value=text))


def _at(parts: Mapping[str, str | None], order: DayFirst | None) -> _Moment:
    """The moment that a date's parts name."""
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
    """The kind of times that it can be compared with, and the distance from Greenwich."""
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


def _comparable(where: str, moments: Mapping[str, _Moment]) -> None:
    examples = {moment.kind: text for text, moment in moments.items()}
    if len(examples) > 1:
        (one, first), (two, second), *_ = examples.items()
        remark = DataProblem.TIMES_OF_SEVERAL_KINDS(
            where=where, value=first, kind=one, other=second, other_kind=two
        )
        raise DataError(remark)
