"""Reasons for a guessed reading, columns that the user named, and advice on what to leave out or merge."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from grasp_core.model.data_spec import DataSpec, Layout, MapValues
from grasp_core.model.errors import Problem
from grasp_core.model.remarks.problems import DataProblem
from grasp_core.model.text import agree, listed, number, quoted
from grasp_core.reading.table.parsed import ANY

Confidence = Literal["sure", "likely", "unsure"]


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason for a guess."""

    # field of :class:`~grasp_core.model.data_spec.DataSpec`, or "axes", or "aggregated" (without raters)
    field: str
    sentence: str
    # if unsure, a person has to choose, and nothing is computed from the guess
    confidence: Confidence = "likely"
    # columns (or layouts) that an unsure guess may mean, best first; empty if none is known. For axes, the
    # column that is none as it is, such as numbers that bands would make an axis
    candidates: tuple[str, ...] = ()
    # whether the question gives the reason, even if its candidates are enough to decide
    explained: bool = False


Reading = tuple[DataSpec, list[Reason]]  # the reading of a file, and the reasons for it


@dataclass(frozen=True, slots=True)
class Named:
    """Layout and columns that are sure because the user named them; None is still to be guessed."""

    layout: Layout | None = None
    item: str | None = None
    rater: str | None = None
    label: str | None = None  # of a matrix, a pattern of the names of its columns of labels
    profile: tuple[str, ...] = ()  # columns that are neither item, rater nor label
    ignore: tuple[str, ...] = ()

    @classmethod
    def among(cls, given: Mapping[str, Any]) -> Named:
        """Pick the fields of this class from `given`, which may have others."""
        return cls(**{name: given[name] for name in cls.__slots__ if given.get(name) is not None})

    @property
    def fields(self) -> dict[str, str]:
        """Named layout and columns by field, without fields that are to be guessed."""
        named = {name: getattr(self, name) for name in ("layout", "item", "rater", "label")}
        return {name: value for name, value in named.items() if value is not None}

    @property
    def aside(self) -> set[str]:
        """Columns of `profile` and `ignore` that have no other role."""
        return {*self.profile, *self.ignore} - set(self.fields.values())

    def beside(self, spec: DataSpec) -> DataSpec:
        """Return the reading with `profile` and `ignore` added; a column named otherwise leaves the other."""
        ids = (spec.item, spec.rater)
        own = (*(name for name in spec.profile if name not in (*self.ignore, *ids)), *self.profile)
        idle = (*(name for name in spec.ignore if name not in (*self.profile, *ids)), *self.ignore)
        return replace(spec, profile=tuple(dict.fromkeys(own)), ignore=tuple(dict.fromkeys(idle)))

    @property
    def cells(self) -> bool:
        """True if the label is a pattern of a matrix's columns, as ``q*_rating``."""
        return self.label is not None and ANY in self.label

    @property
    def long(self) -> bool | None:
        """True if the named fields say that the file has a row per annotation, None if they do not decide."""
        if self.layout is not None:
            return self.layout == "long"
        if self.cells:
            return False
        return True if self.label is not None or (self.item is not None and self.rater is not None) else None

    @property
    def whole(self) -> bool:
        """True if nothing is left to be guessed."""
        if self.cells:
            return False
        needed = {"items-by-raters": ("item",), "raters-by-items": ("rater",)}.get(
            self.layout or "long", ("item", "rater", "label")
        )
        return all(getattr(self, name) is not None for name in needed)


Pair = tuple[str, str]
Field = Literal["exclude", "drop", "raters", "items", "missing", "alike", "repeated"]

_SHOWN = 4  # largest number of pieces of advice in one line


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice to leave something out, or to merge values, for a reason that the data give."""

    # field of :class:`~grasp_core.model.data_spec.DataSpec` or of its filters. For "repeated", the one value
    # is the answer that counts if a rater gave several
    field: Field
    column: str  # column of the values or ids; "label" for the labels of a matrix
    values: tuple[str, ...]
    why: str
    count: int  # number of raters, annotations, items or cells concerned, by `field`
    recommended: bool = True  # whether the data support it; if not, either answer may be right
    # whether a text that may mean "no value", or is spelled like another, is a value of its column alone:
    # about raters, or of one of several questions
    group: bool = False
    # for each of the values, the spelling that differs from it only in case or blanks
    into: tuple[str, ...] = ()
    of: tuple[str, ...] = ()  # of several questions, the columns in which a text may mean "no value"

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Pairs of the column and each of the values."""
        return tuple((self.column, value) for value in self.values)

    @property
    def what(self) -> str:
        """Rows, ids or cells concerned, e.g. "4 raters with 'removed' = 'yes'"."""
        if self.field == "repeated":
            other = agree(self.count, "differs from another", "differ from others")
            return f"{number(self.count, 'answer')} that {other} of the same rater to the same item"
        if self.blank:
            return f"{number(self.count, 'row')} without an id in {quoted(self.column)}"
        if self.field in ("missing", "alike"):
            of = f" in {quoted(self.column)}" if self.group else ""
            return f"{number(self.count, 'cell')} with {listed(self.values, 3)}{of}"
        one = {"drop": "annotation", "items": "item"}.get(self.field, "rater")
        if self.field in ("raters", "items"):
            return f"{number(self.count, one)} ({listed(self.values, 3)})"
        return f"{number(self.count, one)} with {quoted(self.column)} = {listed(self.values)}"

    @property
    def blank(self) -> bool:
        """True if the advice is about rows without a rater's or an item's id."""
        return self.field in ("drop", "raters", "items") and self.values == ("",)

    @property
    def sentence(self) -> str:
        """Rows, ids or cells concerned, and why."""
        return f"{self.what}: {self.why}"

    def without(self, keep: Collection[Pair]) -> Advice | None:
        """Return the advice without the pairs to keep, or None if nothing is left of it."""
        left = tuple(value for column, value in self.pairs if (column, value) not in keep)
        if len(left) == len(self.values):
            return self
        ids = self.field in ("raters", "items")
        into = tuple(one for pair, one in zip(self.pairs, self.into, strict=False) if pair not in keep)
        return replace(self, values=left, into=into, count=len(left) if ids else self.count) if left else None

    def taken(self, spec: DataSpec) -> DataSpec:
        """Return the spec that follows the advice."""
        if self.field == "exclude":
            return replace(spec, exclude=_with(spec.exclude, self.pairs))
        if self.field == "repeated":
            return replace(spec, repeated="first" if "first" in self.values else "last")
        if self.field == "missing":
            return labels_less(replace(spec, missing=_with(spec.missing, self.values)), self.values)
        if self.field == "alike":
            column = self.column if self.group else None
            steps = [
                one
                for one in spec.recode
                if isinstance(one, MapValues) and one.column in (column, self.column)
            ]
            done = {old for step in steps for old, _ in step.values}
            both = zip(self.values, self.into, strict=True)
            changes = tuple((value, into) for value, into in both if value not in done)
            if not changes:
                return spec
            done_with = () if self.group else self.values
            return labels_less(replace(spec, recode=(*spec.recode, MapValues(column, changes))), done_with)
        more = self.pairs if self.field == "drop" else self.values
        filters: dict[str, Any] = {self.field: _with(getattr(spec.filters, self.field), more)}
        return replace(spec, filters=replace(spec.filters, **filters))

    def followed(self, spec: DataSpec) -> bool:
        """Return whether the spec follows the advice already, or recodes all texts that it is about."""
        if self.field == "missing" and all(
            self._recoded(spec, column) for column in self.of or (self.column,)
        ):
            return True
        return self.taken(spec) == spec

    def _recoded(self, spec: DataSpec, column: str) -> bool:
        everywhere = (column,) if self.group else (column, None)
        old = {
            text
            for step in spec.recode
            if isinstance(step, MapValues) and step.column in everywhere
            for text, _ in step.values
        }
        return old.issuperset(self.values)


def labels_less(spec: DataSpec, texts: Collection[str]) -> DataSpec:
    """Return the spec without these texts among its labels; fewer than two are no list."""
    if spec.categories is None or set(spec.categories).isdisjoint(texts):
        return spec
    left = tuple(label for label in spec.categories if label not in texts)
    return replace(spec, categories=left if len(left) > 1 else None)


def all_taken(advice: Iterable[Advice], spec: DataSpec) -> DataSpec:
    """Return the spec that follows all advice that is recommended."""
    for one in advice:
        spec = one.taken(spec) if one.recommended else spec
    return spec


def mending(problems: Sequence[Problem], spec: DataSpec) -> Advice | None:
    """Return the advice that solves all of these problems at once, rows without an id first; else None."""
    blank = [one for one in problems if one.remark.code in _BLANK]
    again = [one for one in problems if one.field == "repeated"]
    if len(blank) + len(again) < len(problems):
        return None
    if blank:
        unit = blank[0].field
        count = max(one.count for one in blank if one.field == unit)  # of any question
        column = spec.item if unit == "item" else spec.rater
        field: Field = "drop" if spec.layout == "long" else "items" if unit == "item" else "raters"
        found = Advice(field, str(column), ("",), f"nobody can tell the {unit}", count)
        return None if found.followed(spec) else found
    sure = again[0].remark.code is DataProblem.ANSWERED_TWICE
    example = dict(again[0].remark.numbers)["example"]
    why = f"{example}; the last one may correct the others" if sure else again[0].message
    return Advice("repeated", "label", ("last",), why, sum(one.count for one in again), recommended=sure)


_BLANK = (DataProblem.BLANK_ID, DataProblem.BLANK_ID_OF_ROW)


def told(advice: Sequence[Advice], takes: str, declines: str, missing: Callable[[str], str]) -> str:
    """Describe advice that is not taken, and the options that take it, decline it, or name a missing text."""
    said = []
    for alike, kept, does in (
        (False, "kept, though recommended to be left out", "leaves {} out"),
        (True, "kept apart, though recommended to be taken as one", "takes {} as one"),
    ):
        sure = [one for one in advice if one.recommended and (one.field == "alike") is alike]
        if sure:
            shown = "; ".join(one.sentence for one in sure[:_SHOWN])
            more = f"; and {len(sure) - _SHOWN} more" if len(sure) > _SHOWN else ""
            them = agree(sum(one.count for one in sure), "it", "them")
            said.append(f"{kept}: {shown}{more}; {takes} {does.format(them)}")
    for one in advice:
        if not one.recommended:
            option = " ".join(map(missing, one.values))
            kept = "group" if one.group else "label"
            said.append(f"kept as a {kept}: {one.sentence}; {option} takes it for no answer")
    return f"{'; '.join(said)}; {declines} says that all count"


def _with(given: tuple[Any, ...], more: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys((*given, *more)))
