"""Options of the functions, named like the fields of the specs that they set."""

from __future__ import annotations

import functools
import inspect
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from typing import Any, ParamSpec, TypedDict, TypeVar, get_type_hints

import numpy as np

from grasp_core.engine.frontend import KeepingNotes
from grasp_core.engine.reading_request import AdviceAnswer
from grasp_core.engine.run_request import Preset
from grasp_core.model import spec
from grasp_core.model.data_spec import (
    WHICH_LABEL,
    DataSpec,
    Filters,
    Layout,
    Question,
    Recode,
    Repeated,
    Screen,
    one_question,
)
from grasp_core.model.errors import GraspError, SpecError
from grasp_core.model.fields import fields_of
from grasp_core.model.groups import AxisSet, Group, group_label
from grasp_core.model.text import closest, for_python, listed

P = ParamSpec("P")
R = TypeVar("R")

Pairs = Iterable[tuple[str, object]]
Axes = str | Iterable[str | Iterable[str]]
Whole = int | np.integer[Any]


class ReadingOptions(TypedDict, total=False):
    """Options for reading: fields of :class:`~grasp_core.model.data_spec.DataSpec`; `keep`, `recommended`."""

    guess: bool
    layout: Layout | None
    item: str | Whole | None
    rater: str | Whole | None
    label: str | Whole | Iterable[str] | None
    profile: Iterable[str] | None
    ignore: Iterable[str] | None
    text: str | None
    categories: Iterable[object] | Mapping[str, Iterable[object]] | None
    missing: Iterable[str] | None
    exclude: Pairs | None
    recode: Iterable[Recode] | None
    filters: Filters | None
    member: str | None
    raters_member: str | None
    repeated: Repeated | None
    order: str | None
    items_id: str | None
    items_member: str | None
    screens: Iterable[Screen] | None
    keep: Pairs | None
    recommended: bool | None


class TestOptions(ReadingOptions, total=False):
    """Options for reading, and fields of :class:`~grasp_core.model.spec.AnalysisSpec` that every test has."""

    min_raters: Whole | None
    permutations: Whole | None
    adaptive: bool | None
    seed: Whole | np.random.Generator | None
    strata: Iterable[str] | None
    cluster: str | None
    p_value: spec.PValue | None
    ties: spec.Ties | None
    correction: spec.Correction | None
    family: spec.Family | None


class AnalysisOptions(TestOptions, total=False):
    """All fields of the spec, and `preset`."""

    statistics: Iterable[str] | None
    gai: tuple[str, str] | None
    cross_negentropy: spec.CrossNegentropy | None
    voting_agreement: spec.VotingAgreement | None
    level: spec.Level | None
    interval: spec.IntervalTarget | None
    pairs: bool | None
    tail: bool | None
    slices: Iterable[str] | None
    given: Iterable[str] | None
    preset: Preset | None


class Python(KeepingNotes):
    """Options as written in Python; notes are kept, worded for Python."""

    def note(self, sentence: str) -> None:
        """See :class:`~grasp_core.engine.frontend.Frontend`."""
        super().note(for_python(sentence))

    def option(self, field: str) -> str:
        """See :class:`~grasp_core.engine.frontend.Frontend`."""
        return f"{field}="

    def value(self, field: str, value: object) -> str:
        """See :class:`~grasp_core.engine.frontend.Frontend`."""
        return f"{field}={value!r}"


_HEADING = "    Other Parameters\n    ----------------\n"


def takes(options: type) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function take the options of a typed dictionary only; show them in its signature and docstring.

    An option that is None counts as not named. Only a `seed` of None has a meaning: another seed each time.
    Errors are worded for Python (:func:`~grasp_core.model.text.for_python`).
    """
    hints = get_type_hints(options)

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        shown = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_default(name), annotation=hint)
            for name, hint in hints.items()
        ]

        known = [one.name for one in (*own, *shown)]

        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in kwargs:
                if name not in known:
                    close = closest(name, known)
                    hint = f"; did you mean {' or '.join(close)}?" if close else ""
                    raise TypeError(
                        f"{function.__name__}() got an unexpected keyword argument {name!r}{hint}"
                    )
            with worded():
                named: Any = {
                    name: _plain(name, value)
                    for name, value in kwargs.items()
                    if value is not None or name == "seed" or name not in hints
                }
                return function(*args, **named)

        own_part, returns, rest = str(function.__doc__).partition("    Returns\n    -------\n")
        told = [f"    {name}\n        {text}\n" for name in hints if (text := _meaning(name))]
        heading = "" if _HEADING in own_part else f"\n{_HEADING}"
        called.__doc__ = f"{own_part.rstrip()}\n{heading}{''.join(told)}\n{returns}{rest}"
        called.__signature__ = signature.replace(parameters=[*own, *shown])  # type: ignore[attr-defined]
        return called

    return decorated


@contextmanager
def worded() -> Iterator[None]:
    """Word errors inside for Python: options as they are written there, and no places on pages."""
    try:
        yield
    except GraspError as error:
        error.args = tuple(for_python(one) if isinstance(one, str) else one for one in error.args)
        raise


_AS_ASKED = frozenset(("permutations", "adaptive", "pairs", "missing", "layout", "categories"))
"""Options whose default depends on the data: None in signatures."""


_FIELDS = {**fields_of(spec.AnalysisSpec), **fields_of(DataSpec)}
_MEANINGS = {
    "guess": "False recognises nothing and leaves nothing out: name `item`, `rater` and `label` (for a "
    "matrix, `layout` and the column of its rows' ids).",
    "label": "Column of the labels; several are analysed together, and `categories` are then a mapping.",
    "filters": "A :class:`Filters`.",
    "exclude": "Pairs of a column and a value: raters with that value are left out.",
    "recommended": "True leaves out raters and answers that the data mark, and rows without an id, counts a "
    "rater's last answer to an item, and merges spellings that differ by case or blanks, except for `keep`; "
    "by default all count, and the first note says how many.",
    "keep": "Pairs of a column and a value: rows, or spellings, that `recommended` must not change.",
    "seed": "A whole number, a NumPy Generator to draw one from, or None for another one each time.",
    "preset": '"default" or "paper": conventions, see docs/methods.md.',
}
"""Meanings of options that are no fields, or accept more than their fields."""


def _meaning(name: str) -> str:
    """Return an option's meaning and choices, for a docstring."""
    field = _FIELDS.get(name)
    if field is None or name in _MEANINGS:
        return _MEANINGS.get(name, "")
    text = for_python(field.help)
    choices = f" One of {', '.join(map(repr, field.choices))}." if field.choices else ""
    return f"{text[0].upper()}{text[1:]}.{choices}"


def _default(name: str) -> Any:
    """Return an option's default for a signature; None if it is guessed, or depends on the data."""
    if name == "guess":
        return True
    return None if name in _AS_ASKED or name not in _FIELDS else _FIELDS[name].default


def _plain(name: str, value: Any) -> Any:
    """Convert a number of NumPy to Python's own, and a seed to a whole number."""
    if name == "seed":
        if value is None:
            return secrets.randbits(32)
        if isinstance(value, np.random.Generator):
            return int(value.integers(2**32))
    if name in ("item", "rater", "text", "order", "items_id"):
        return _text(value)
    return value.item() if isinstance(value, np.generic) else value


def data_fields(given: Mapping[str, Any], *, several: bool = False) -> dict[str, Any]:
    """Return the fields of a data spec that the options give, for :func:`.reading_of`."""
    own = fields_of(DataSpec).keys() - {"label", "categories"}
    fields = {name: value for name, value in given.items() if name in own}
    for name in ("profile", "ignore", "screens"):
        if name in given:
            fields[name] = texts(given[name])
    fields["filters"] = given.get("filters", Filters())
    fields["missing"] = tuple(dict.fromkeys((*DataSpec.missing, *texts(given.get("missing", ())))))
    if "exclude" in given:  # an empty one leaves out nobody, not even raters whom the data mark
        fields["exclude"] = conditions("exclude", given["exclude"])
    fields["recode"] = tuple(given.get("recode", ()))
    return fields | _questions(texts(given.get("label", ())), given.get("categories"), several=several)


def answer_of(given: Mapping[str, Any]) -> AdviceAnswer:
    """Return the options' answer to advice on leaving out."""
    recommended = given.get("recommended")
    if not isinstance(recommended, bool | None):
        raise SpecError(f"recommended is True or False; found {recommended!r}", field="recommended")
    return AdviceAnswer(conditions("keep", given.get("keep", ())), recommended)


def _questions(labels: tuple[str, ...], categories: Any, *, several: bool) -> dict[str, Any]:
    """Return the fields of label columns, and the categories of each."""
    if len(labels) > 1 and not several:
        raise SpecError(one_question(labels, WHICH_LABEL), field="label")
    of = categories if isinstance(categories, Mapping) else dict.fromkeys(labels, categories)
    if any(isinstance(one, Set) for one in (categories, *of.values())):
        raise SpecError("categories stand in an order, which a set has not: give a list", field="categories")
    if unknown := [name for name in of if name not in labels]:
        raise SpecError(f"{unknown[0]!r} is none of the label columns", field="categories")
    declared = {name: None if values is None else texts(values) for name, values in of.items()}
    if not labels:
        return {} if categories is None else {"categories": texts(categories)}
    first, *others = labels
    fields: dict[str, Any] = {"label": first}
    if declared.get(first) is not None:
        fields["categories"] = declared[first]
    if others:
        fields["further"] = tuple(Question(name, declared.get(name)) for name in others)
    return fields


def analysis_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an analysis spec that the options give, without axes."""
    fields = {name: value for name, value in given.items() if name in fields_of(spec.AnalysisSpec)}
    for name in ("statistics", "gai", "strata", "slices", "given"):
        if name in given:
            fields[name] = texts(given[name])
    if given.get("adaptive") and "permutations" not in given:
        fields["permutations"] = spec.ADAPTIVE_PERMUTATIONS
    return fields


def axis_sets(axes: Axes | None) -> tuple[AxisSet, ...]:
    """Return axes and intersections as specs have them."""
    named = (axes,) if isinstance(axes, str) else () if axes is None else tuple(axes)
    return tuple(texts(one) for one in named)


def conditions(option: str, pairs: Any) -> tuple[tuple[str, str], ...]:
    """Return columns with values, as texts."""
    found = tuple(texts(pair) for pair in pairs)
    if isinstance(pairs, str | Mapping) or any(len(pair) != 2 for pair in found):
        raise SpecError(f"{option} takes pairs of a column and a value, as [('column', 'value')]")
    return tuple((column, value) for column, value in found)


def group_of(named: Any, groups: Mapping[Group, Any]) -> Group:
    """Return the group that a mapping from axis to value names, in any order of its axes."""
    wanted = {tuple(texts(pair)) for pair in named.items()} if isinstance(named, Mapping) else None
    for group in groups:
        if set(group.by_axis.items()) == wanted:
            return group
    shown = listed([group_label(group) for group in groups])
    raise SpecError(f"name one group as {{'axis': 'value'}}; found {named!r}, there are {shown}")


def texts(values: Any) -> tuple[str, ...]:
    """Return one text, or several; other values become the text of a cell with them."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        return (_text(values),)
    return tuple(map(_text, values))


def _text(value: Any) -> str:
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)
