"""Data specs: the columns, recoding steps and filters by which files become annotations and raters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal, TypeVar, get_args

from grasp_core.model.errors import SpecError
from grasp_core.model.fields import (
    Wrong,
    asked,
    check,
    check_pairs,
    check_text_or_none,
    check_texts,
    described,
    is_number,
    refuse,
    twice,
)
from grasp_core.model.json_values import CONVERTER, closed, from_json, in_file
from grasp_core.model.text import listed, quoted

T = TypeVar("T", "Filters", "MapValues", "DataSpec")


@closed
@dataclass(frozen=True, slots=True)
class MapValues:
    """Replace values: rename, merge, or treat as missing.

    `column`: a column of either file; None for the labels in every layout, right labels too.
    `values`: pairs of old and new value; an empty new value means "no value". Other values stay as they are.
    """

    column: str | None
    values: tuple[tuple[str, str], ...]
    kind: Literal["map"] = field(default="map", init=False)

    def __post_init__(self) -> None:
        check_text_or_none("recode: `column`", self.column)
        check_pairs("recode: `values`", self.values)
        if len({old for old, _ in self.values}) != len(self.values):
            raise SpecError("a value is mapped twice", field="recode")


@closed
@dataclass(frozen=True, slots=True)
class Bins:
    """Cut numbers into ranges: ages, or a rating scale at a threshold.

    `column`: a column of either file; None for the labels, as in :class:`MapValues`.
    `edges`: ascending; range i is ``edges[i - 1] <= x < edges[i]``, the first and the last range are open.
    `labels`: names of the ranges, all different, one more than there are edges.
    """

    column: str | None
    edges: tuple[float, ...]
    labels: tuple[str, ...]
    kind: Literal["bins"] = field(default="bins", init=False)

    def __post_init__(self) -> None:
        check_text_or_none("recode: `column`", self.column)
        check_texts("recode: `labels`", self.labels)
        numbers = isinstance(self.edges, tuple) and all(is_number(edge) for edge in self.edges)
        if not numbers or not self.edges or list(self.edges) != sorted(set(self.edges)):
            raise SpecError(f"`edges` must be ascending numbers; found {self.edges!r}", field="recode")
        if len(self.labels) != len(self.edges) + 1 or len(set(self.labels)) != len(self.labels):
            raise SpecError(
                f"{len(self.edges)} edges need {len(self.edges) + 1} different labels;"
                f" found {len(self.labels)}",
                field="recode",
            )
        if not all(self.labels):
            raise SpecError("a range's label is empty", field="recode")
        object.__setattr__(self, "edges", tuple(float(edge) for edge in self.edges))  # 18 becomes 18.0


def range_labels(edges: Sequence[float]) -> tuple[str, ...]:
    """Return names for the ranges between edges, such as ``under 25``, ``25-39``, ``40 and over``."""
    if not edges:
        return ()
    whole = all(float(edge).is_integer() for edge in edges)
    between = [
        (f"{low:g}-{high - 1:g}" if high - low > 1 else f"{low:g}") if whole else f"{low:g} to under {high:g}"
        for low, high in pairwise(edges)
    ]
    return (f"under {edges[0]:g}", *between, f"{edges[-1]:g} and over")


@closed
@dataclass(frozen=True, slots=True)
class Combine:
    """One answer from several questions: the first value of `priority` that any of them has.

    `columns`: the questions' columns in the annotations file.
    `priority`: E.g. ``("Unsafe", "Unsure", "Safe")``: any Unsafe, else any Unsure, else Safe.
    `into`: name of the new column.
    """

    columns: tuple[str, ...]
    priority: tuple[str, ...]
    into: str
    kind: Literal["combine"] = field(default="combine", init=False)

    def __post_init__(self) -> None:
        check_texts("recode: `columns`", self.columns)
        check_texts("recode: `priority`", self.priority)
        if not isinstance(self.into, str) or not self.into.strip():
            raise SpecError("the combined column needs a name", field="recode")
        if not self.columns or len(set(self.columns)) != len(self.columns):
            raise SpecError("name the columns to combine, each once", field="recode")
        if len(self.priority) < 2 or len(set(self.priority)) != len(self.priority):
            raise SpecError("`priority` needs at least two different values", field="recode")


Recode = MapValues | Bins | Combine
_RECODES: Mapping[str, type[Recode]] = {"map": MapValues, "bins": Bins, "combine": Combine}


def _recode(plain: Any, _: Any) -> Recode:
    kind = plain.get("kind") if isinstance(plain, dict) else None
    if not isinstance(kind, str) or kind not in _RECODES:
        raise SpecError(
            f"a step's `kind` must be one of {', '.join(_RECODES)}; found {kind!r}", field="recode"
        )
    return from_json({name: value for name, value in plain.items() if name != "kind"}, _RECODES[kind])


CONVERTER.register_structure_hook(Recode, _recode)


Layout = Literal["long", "items-by-raters", "raters-by-items"]
Repeated = Literal["refuse", "first", "last"]
"""The label that counts if a rater gives an item different labels."""
Screen = Literal["random", "constant", "duplicates"]
"""Kinds of raters found in the labels: at chance, always one label, and too close to another rater."""


@closed
@described
@dataclass(frozen=True, slots=True)
class Filters:
    """Annotations, raters and items to leave out, in the order of the fields.

    Times are in the unit of their column. If either limit is set, annotations without a number are left out
    too. `min_per_rater` and `min_per_item` are applied once each, not repeated until nothing changes.
    """

    drop: tuple[tuple[str, str], ...] = asked(
        (), "leave out annotations with this value; not with raters-by-items", "COLUMN=VALUE", each=True
    )
    raters: tuple[str, ...] = asked((), "leave out this rater", "ID", flag="exclude-rater", each=True)
    items: tuple[str, ...] = asked((), "leave out this item", "ID", flag="exclude-item", each=True)
    time: str | None = asked(None, "time that each annotation took, for --min-time and --max-time", "COLUMN")
    min_time: float | None = asked(None, "leave out annotations that took less", "TIME")
    max_time: float | None = asked(None, "leave out annotations that took longer", "TIME")
    gold: str | None = asked(None, "the right labels, for --min-gold", "COLUMN")
    min_gold: float | None = asked(None, "leave out raters who are right less often, 0 to 1", "SHARE")
    min_per_rater: int = asked(1, "leave out raters with fewer annotations", "N")
    min_per_item: int = asked(1, "leave out items with fewer annotations", "N")

    def __post_init__(self) -> None:
        for name in ("drop", "raters", "items"):  # as lists, which sentences for Python write
            if isinstance(value := getattr(self, name), list):
                pairs = (tuple(one) if isinstance(one, list) else one for one in value)
                object.__setattr__(self, name, tuple(pairs))
        check(self, Filters._wrong, "filters")
        for name in ("min_time", "max_time", "min_gold"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, float(getattr(self, name)))

    def _wrong(self) -> Iterator[Wrong]:
        """Yield the faults of numbers and of combinations of fields."""
        least = self.min_gold
        for name in ("min_time", "max_time", "min_gold"):
            value = getattr(self, name)
            if value is not None and not is_number(value):
                yield (name,), f"`{name}` must be a number; found {value!r}"
        for name in ("min_per_rater", "min_per_item"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                yield (name,), f"`{name}` must be a whole number from 1; found {value!r}"
        if (self.time is None) != (self.min_time is None and self.max_time is None):
            why = "a time limit needs the time's column, and the column a limit"
            yield ("time", "min_time", "max_time"), why
        if (self.gold is None) != (least is None):
            yield ("gold", "min_gold"), "`gold` and `min_gold` go together"
        if least is not None and is_number(least) and not 0 <= least <= 1:
            yield ("min_gold",), f"`min_gold` must be a share from 0 to 1; found {least!r}"


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
        if self.categories is not None:
            check_texts("`categories`", self.categories)
        refuse(_categories(self.categories))


WHICH_LABEL = " on Data or by --label"
"""Place and option that choose one question before a run."""


def one_question(labels: Sequence[str], how: str = "") -> str:
    """Ask for one of several questions by its label column; `how` ends the sentence with the way to do it."""
    return f"this looks at one question at a time; choose one of {listed(labels)}{how}"


@closed
@described
@dataclass(frozen=True)
class DataSpec:
    """The reading of files: how they become annotations and raters.

    A matrix needs only the column of its rows' ids, `item` or `rater`. Without it, each row is an item (or a
    rater) of its own, named by its number in the file, such as "row 2". In a long file, `further` are
    questions besides `label`: an annotation then has one answer to each, and any may be missing.
    """

    layout: Layout = asked("long", "a row per annotation, or a matrix")
    item: str | None = asked(None, "column of item ids", "COLUMN")
    rater: str | None = asked(None, "column of rater ids", "COLUMN")
    label: str | None = asked(None, "column of the labels; several are analysed together", "COLUMN")
    profile: tuple[str, ...] = asked((), "columns about raters, in a matrix of raters by items", "COLUMN,...")
    ignore: tuple[str, ...] = asked((), "columns to ignore", "COLUMN,...")
    text: str | None = asked(None, "column of the items' texts", "COLUMN")
    categories: tuple[str, ...] | None = asked(None, "the labels in order (default: the labels in the file)")
    missing: tuple[str, ...] = asked(
        ("",), "cell text that means no value, like an empty cell", "TEXT", each=True
    )
    exclude: tuple[tuple[str, str], ...] = asked(
        (), "leave out raters with this value", "COLUMN=VALUE", each=True
    )
    recode: tuple[Recode, ...] = asked(
        (), "steps of MapValues, Bins and Combine, applied first, in this order"
    )
    filters: Filters = field(default_factory=Filters)
    member: str | None = asked(None, "file of an archive, or sheet of a workbook", "NAME")
    raters_member: str | None = asked(None, "file or sheet of the raters, likewise", "NAME")
    further: tuple[Question, ...] = ()
    repeated: Repeated = asked(
        "refuse",
        "if a rater gives an item different labels: refuse (default), or let the first or last count",
    )
    order: str | None = asked(
        None, "column of times that decide first and last (default: the order of rows)", "COLUMN"
    )
    items_id: str | None = asked(None, "column of the items file's item ids, if not recognised", "COLUMN")
    items_member: str | None = asked(None, "file or sheet of the items, likewise", "NAME")
    screens: tuple[Screen, ...] = asked(
        (),
        "leave out raters by what their labels show: random (at chance), constant, duplicates (one of each "
        "two)",
        "SCREEN,...",
        flag="leave-out",
    )

    def __post_init__(self) -> None:
        if not isinstance(self.recode, tuple) or not all(isinstance(step, Recode) for step in self.recode):
            raise SpecError(f"`recode` must be a list of steps; found {self.recode!r}")
        if not isinstance(self.filters, Filters):
            raise SpecError(f"`filters` must be an object; found {self.filters!r}")
        if not isinstance(self.further, tuple) or not all(isinstance(q, Question) for q in self.further):
            raise SpecError(f"`further` must be a list of questions; found {self.further!r}")
        check_texts("`screens`", self.screens)
        check(self, DataSpec._wrong)

    def _wrong(self) -> Iterator[Wrong]:
        """Yield the faults of lists and of combinations of fields."""
        for name in ("item", "rater", "label") if self.layout == "long" else ():
            if not getattr(self, name):
                yield ("layout", name), f"layout {self.layout!r} needs the name of the {name} column"
        if self.order is not None and self.repeated == "refuse":
            why = "`order` tells which answer is the first or the last: set `repeated` to one of them"
            yield ("order", "repeated"), why
        if self.items_member is not None and self.items_id is None:
            why = "`items_member` is of an items file, whose column of ids `items_id` names"
            yield ("items_member", "items_id"), why
        unknown = [value for value in self.screens if value not in get_args(Screen)]
        if unknown or len(set(self.screens)) != len(self.screens):
            known, given = ", ".join(get_args(Screen)), ", ".join(self.screens)
            yield ("screens",), f"`screens` must be some of {known}, each once; found {given}"
        yield from _categories(self.categories)
        if self.further and self.layout != "long":
            why = "several questions need a long file, with a label column for each"
            yield ("further", "layout"), why
        if len(set(self.labels)) != len(self.labels):
            doubled = next(name for name in self.labels if self.labels.count(name) > 1)
            why = f"{doubled} is named twice as a question's label column; name it once"
            yield ("label", "further", "layout"), why
        if self.further and self.filters.gold is not None:
            why = "right labels belong to one question: choose one, or no filter by right labels"
            yield ("further", "filters"), why

    @property
    def labels(self) -> tuple[str, ...]:
        """The label columns of a long file, one per question; empty for a matrix."""
        own = () if self.label is None or self.layout != "long" else (self.label,)
        return (*own, *(question.label for question in self.further))

    @property
    def questions(self) -> tuple[DataSpec, ...]:
        """One spec for each question alone, otherwise the same."""
        one = replace(self, further=())
        return (one, *(replace(one, label=q.label, categories=q.categories) for q in self.further))

    def question_named(self, label: str | None, how: str = "") -> int:
        """Return the place of the question with this label column; `how` as in :func:`one_question`.

        With one question, None names it. Raises SpecError if no question is named, or none of this spec.
        """
        labels = [str(question.label) for question in self.questions]
        if label is None and len(labels) == 1:
            return 0
        if label is None:
            raise SpecError(one_question(labels, how))
        if label not in labels:
            raise SpecError(f"there is no question {quoted(label)}; there is {listed(labels)}")
        return labels.index(label)

    def canonical(self) -> DataSpec:
        """Return an equal spec in which lists are sorted if their order has no meaning."""
        recode = tuple(
            _in_one_order(step, "values") if isinstance(step, MapValues) else step for step in self.recode
        )
        own = _in_one_order(self, "profile", "ignore", "missing", "exclude", "screens")
        filters = _in_one_order(self.filters, "drop", "raters", "items")
        return replace(own, recode=recode, filters=filters)


IN_FILES = {"member": "part", "raters_member": "raters_part", "items_member": "items_part"}
"""Fields with another name in files; specs are hashed with the names in files."""


_FIELDS = {written: name for name, written in IN_FILES.items()}
in_file(
    DataSpec,
    lambda fields: {IN_FILES.get(name, name): value for name, value in fields.items()},
    lambda plain: {_FIELDS.get(name, name): value for name, value in plain.items()},
)


def _categories(values: tuple[str, ...] | None) -> Iterator[Wrong]:
    if values is not None and len(values) < 2:
        yield ("categories",), "`categories` needs at least two labels"
    yield from twice("categories", values or (), "a label")


def _in_one_order(spec: T, *names: str) -> T:
    """Return the spec with each of these lists sorted, each value once."""
    ordered: Any = {name: tuple(sorted(set(getattr(spec, name)))) for name in names}
    return replace(spec, **ordered)


SCREENS: Mapping[Screen, str] = {
    "random": "raters at chance",
    "constant": "raters who gave one label always",
    "duplicates": "one of each two raters who agree too closely",
}
NAMED: Mapping[Screen, str] = {**SCREENS, "duplicates": "raters who agree too closely with another one"}
