"""How files become annotations and raters: columns, recoding steps and filters, as a small value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from grasp_core.model._kinds import check_pairs, check_text_or_none, check_texts, is_number
from grasp_core.model.errors import SpecError
from grasp_core.model.json_values import closed, in_file
from grasp_core.model.recode_steps import MapValues, Recode

Layout = Literal["long", "items-by-raters", "raters-by-items"]
Repeated = Literal["refuse", "first", "last"]
"""Which label counts where a rater gives an item different ones."""
Screen = Literal["random", "constant", "duplicates"]
"""Kinds of raters that the data themselves show: at chance, always one label, and too close to another."""


@closed
@dataclass(frozen=True, slots=True)
class Filters:
    """Which annotations, raters and items are left out, in the order of the fields.

    `drop`: annotations with this value are left out; not for "raters-by-items". A matrix has no labels in
        this column.
    `raters`, `items`: ids to leave out.
    `time`: column of the time an annotation took; `min_time` and `max_time` are in its unit.
    `min_time`, `max_time`: annotations that took less, or longer, are left out; so are those without a
        number, if either is set.
    `gold`: column of the right label, where experts gave one.
    `min_gold`: raters are left out who gave the right label to a smaller share of the items that have one.
    `min_per_rater`, `min_per_item`: raters, then items, with fewer annotations are left out, once each in
        this order.
    """

    drop: tuple[tuple[str, str], ...] = ()
    raters: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    time: str | None = None
    min_time: float | None = None
    max_time: float | None = None
    gold: str | None = None
    min_gold: float | None = None
    min_per_rater: int = 1
    min_per_item: int = 1

    def __post_init__(self) -> None:
        check_pairs("filters: `drop`", self.drop)
        check_texts("filters: `raters`", self.raters)
        check_texts("filters: `items`", self.items)
        check_text_or_none("filters: `time`", self.time)
        check_text_or_none("filters: `gold`", self.gold)
        for name in ("min_time", "max_time", "min_gold"):
            value = getattr(self, name)
            if value is not None:
                if not is_number(value):
                    raise SpecError(f"`{name}` must be a number; found {value!r}", field="filters")
                object.__setattr__(self, name, float(value))
        for name in ("min_per_rater", "min_per_item"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise SpecError(f"`{name}` must be a whole number from 1; found {value!r}", field="filters")
        if (self.time is None) != (self.min_time is None and self.max_time is None):
            raise SpecError("a time limit needs the time's column, and the column a limit", field="filters")
        if (self.gold is None) != (self.min_gold is None):
            raise SpecError("`gold` and `min_gold` go together", field="filters")
        if self.min_gold is not None and not 0 <= self.min_gold <= 1:
            raise SpecError(
                f"`min_gold` must be a share from 0 to 1; found {self.min_gold!r}", field="filters"
            )


@closed
@dataclass(frozen=True, slots=True)
class Question:
    """A further question that raters answered about each item.

    `label`: column of a long file.
    `categories`: as in :class:`DataSpec`.
    """

    label: str
    categories: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.label, str) or not self.label:
            raise SpecError(f"`further`: `label` must be a column name; found {self.label!r}")
        _categories(self.categories)


@closed
@dataclass(frozen=True)
class DataSpec:
    """How files become annotations and raters.

    `layout`: a row per annotation, or a matrix with one row per item (per rater).
    `item`, `rater`, `label`: columns of a long file. A matrix names only the column that holds its rows' ids:
        `item` for "items-by-raters", `rater` for "raters-by-items"; without it each row is an item (a rater)
        of its own, called "row 2" by its number in the file.
    `profile`: "raters-by-items" only: columns that describe the rater and are not items.
    `ignore`: matrices only: columns that are no rater (no item) and describe nobody.
    `text`: column with the items' texts.
    `categories`: declared labels in order; None takes those found, sorted.
    `missing`: cell texts that mean "no value", in every column.
    `exclude`: raters with this value in this column are left out.
    `recode`: applied in order, before anything else looks at the values.
    `member`, `raters_member`: the sheet of a workbook, or the member of an archive, that holds the
        annotations (the raters); None where there is only one.
    `further`: "long" only: questions besides `label`; an annotation is then one answer to each, any of which
        may be missing.
    `repeated`: what becomes of different labels that one rater gives one item.
    `order`: column of the times that tell first and last; None takes the order of rows.
    `items_id`: column of the items file that holds the item ids; None where there is no such file.
    `items_member`: as `member`, of the items file.
    `screens`: raters who are left out by what their labels show, after everything else; of two
        near-duplicates one stays.
    """

    layout: Layout = "long"
    item: str | None = None
    rater: str | None = None
    label: str | None = None
    profile: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    text: str | None = None
    categories: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ("",)
    exclude: tuple[tuple[str, str], ...] = ()
    recode: tuple[Recode, ...] = ()
    filters: Filters = field(default_factory=Filters)
    member: str | None = None
    raters_member: str | None = None
    further: tuple[Question, ...] = ()
    repeated: Repeated = "refuse"
    order: str | None = None
    items_id: str | None = None
    items_member: str | None = None
    screens: tuple[Screen, ...] = ()

    def __post_init__(self) -> None:
        if self.layout not in get_args(Layout):
            raise SpecError(f"`layout` must be one of {', '.join(get_args(Layout))}; found {self.layout!r}")
        for name in ("item", "rater", "label"):
            if not isinstance(getattr(self, name), str | None):
                raise SpecError(f"`{name}` must be a column name; found {getattr(self, name)!r}")
        for name in ("text", "member", "raters_member", "order", "items_id", "items_member"):
            check_text_or_none(f"`{name}`", getattr(self, name))
        for name in ("profile", "ignore", "missing"):
            check_texts(f"`{name}`", getattr(self, name))
        if self.repeated not in get_args(Repeated):
            raise SpecError(
                f"`repeated` must be one of {', '.join(get_args(Repeated))}; found {self.repeated!r}"
            )
        if self.order is not None and self.repeated == "refuse":
            raise SpecError(
                "`order` tells which answer is the first or the last: set `repeated` to one of them"
            )
        if self.items_member is not None and self.items_id is None:
            raise SpecError("`items_member` is of an items file, whose column of ids `items_id` names")
        check_pairs("`exclude`", self.exclude)
        if not isinstance(self.recode, tuple) or not all(isinstance(step, Recode) for step in self.recode):
            raise SpecError(f"`recode` must be a list of steps; found {self.recode!r}")
        if not isinstance(self.filters, Filters):
            raise SpecError(f"`filters` must be an object; found {self.filters!r}")
        _screens(self.screens)
        for name in ("item", "rater", "label") if self.layout == "long" else ():
            if not getattr(self, name):
                raise SpecError(f"layout {self.layout!r} needs the name of the {name} column")
        _categories(self.categories)
        if not isinstance(self.further, tuple) or not all(isinstance(q, Question) for q in self.further):
            raise SpecError(f"`further` must be a list of questions; found {self.further!r}")
        if self.further and self.layout != "long":
            raise SpecError("several questions need a long file, with a label column for each")
        if len(set(self.labels)) != len(self.labels):
            twice = next(name for name in self.labels if self.labels.count(name) > 1)
            raise SpecError(f"{twice} is named twice as a question's label column; name it once")
        if self.further and self.filters.gold is not None:
            raise SpecError("right labels belong to one question: choose one, or no filter by right labels")

    @property
    def labels(self) -> tuple[str, ...]:
        """The label columns of a long file, one per question; empty for a matrix."""
        own = () if self.label is None or self.layout != "long" else (self.label,)
        return (*own, *(question.label for question in self.further))

    @property
    def questions(self) -> tuple[DataSpec, ...]:
        """The same reading of each question by itself."""
        one = replace(self, further=())
        return (one, *(replace(one, label=q.label, categories=q.categories) for q in self.further))

    def canonical(self) -> DataSpec:
        """The same reading, with every list whose order means nothing in one order."""
        filters = replace(
            self.filters,
            drop=_in_one_order(self.filters.drop),
            raters=_in_one_order(self.filters.raters),
            items=_in_one_order(self.filters.items),
        )
        return replace(
            self,
            profile=_in_one_order(self.profile),
            ignore=_in_one_order(self.ignore),
            missing=_in_one_order(self.missing),
            exclude=_in_one_order(self.exclude),
            recode=tuple(
                replace(step, values=_in_one_order(step.values)) if isinstance(step, MapValues) else step
                for step in self.recode
            ),
            filters=filters,
            screens=_in_one_order(self.screens),
        )


_IN_FILES = {"member": "part", "raters_member": "raters_part", "items_member": "items_part"}
"""Names of fields in files, by which specs are hashed."""


def _to_file(plain: dict[str, Any]) -> dict[str, Any]:
    return {_IN_FILES.get(name, name): value for name, value in plain.items()}


def _of_file(plain: dict[str, Any]) -> dict[str, Any]:
    fields = {written: name for name, written in _IN_FILES.items()}
    return {fields.get(name, name): value for name, value in plain.items()}


in_file(DataSpec, _to_file, _of_file)


def _categories(values: tuple[str, ...] | None) -> None:
    if values is None:
        return
    check_texts("`categories`", values)
    if len(values) < 2:
        raise SpecError("`categories` needs at least two labels")
    if len(set(values)) != len(values):
        raise SpecError("`categories` names a label twice")


def _screens(values: tuple[str, ...]) -> None:
    check_texts("`screens`", values)
    unknown = [value for value in values if value not in get_args(Screen)]
    if unknown or len(set(values)) != len(values):
        raise SpecError(
            f"`screens` must be some of {', '.join(get_args(Screen))}, each once; found {', '.join(values)}"
        )


def _in_one_order(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(sorted(set(values)))


SCREENS: Mapping[Screen, str] = {
    "random": "raters at chance",
    "constant": "raters who gave one label always",
    "duplicates": "one of each two raters who agree too closely",
}
"""Whom each screen leaves out."""
