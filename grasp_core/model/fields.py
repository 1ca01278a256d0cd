"""Fields of specs: help, choices and bounds, stated once for command line and Python; their checks."""

import copy
import dataclasses
import functools
import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import NoneType
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from grasp_core.model.errors import SpecError

T = TypeVar("T")


class Field(NamedTuple):
    """A field as users see it.

    `kind`: its type, without None. `flag`: its name on the command line. `each`: true if the flag is repeated
        for each of several values. `low`, `high`: bounds of a whole number.
    """

    name: str
    kind: Any
    default: Any
    help: str
    metavar: str | None
    flag: str
    each: bool
    low: int | None
    high: int | None

    @property
    def choices(self) -> tuple[str, ...]:
        """Values that the field may have; empty if it has no fixed list."""
        return get_args(self.kind) if get_origin(self.kind) is Literal else ()


def asked(
    default: Any,
    help: str = "",
    metavar: str | None = None,
    *,
    flag: str | None = None,
    each: bool = False,
    low: int | None = None,
    high: int | None = None,
    added: bool = False,
) -> Any:
    """Return a field of a spec; `added`: files of earlier versions lack it. The rest: see :class:`Field`."""
    shown = {"help": help, "metavar": metavar, "flag": flag, "each": each, "low": low, "high": high}
    return dataclasses.field(default=default, metadata={**shown, **({"added": True} if added else {})})


@functools.cache
def fields_of(spec: type) -> dict[str, Field]:
    """Return the fields of a spec that were made by :func:`asked`, by name."""
    hints = get_type_hints(spec)
    found = {}
    for one in dataclasses.fields(spec):
        if "help" in one.metadata:
            kinds = [kind for kind in get_args(hints[one.name]) if kind is not NoneType]
            kind = kinds[0] if NoneType in get_args(hints[one.name]) else hints[one.name]
            about = {name: one.metadata[name] for name in ("help", "metavar", "each", "low", "high")}
            flag = one.metadata["flag"] or one.name.replace("_", "-")
            found[one.name] = Field(one.name, kind, one.default, flag=flag, **about)
    return found


def described(spec: type[T]) -> type[T]:
    """Class decorator: append the help of all fields to the docstring."""
    lines = [
        f"{one.name} : {one.type}\n    {one.metadata['help']}"
        for one in dataclasses.fields(spec)  # type: ignore[arg-type]  # it decorates data classes
        if one.metadata.get("help")
    ]
    spec.__doc__ = "\n".join([f"{inspect.getdoc(spec)}\n\nParameters\n----------", *lines])
    return spec


Wrong = tuple[tuple[str, ...], str]
"""A fault: the names of the fields concerned, and the sentence that describes it."""


def check(spec: T, relations: Callable[[T], Iterable[Wrong]], field: str | None = None) -> None:
    """Raise SpecError with all faults of a spec, if it has any.

    First come values of the wrong kind, outside their choices or out of bounds; then the faults that
    `relations` finds among the other fields.

    `field`: the field of a larger spec in which this spec stands.
    """
    found, sound = list[Wrong](), copy.copy(spec)
    kind: Any = type(spec)
    for name, one in fields_of(kind).items():
        try:
            _check_value(getattr(spec, name), one, f"`{name}`")
        except SpecError as error:
            found.append(((name,), error.sentence))
            object.__setattr__(sound, name, one.default)
    faulty = {names[0] for names, _ in found}
    refuse([*found, *(one for one in relations(sound) if faulty.isdisjoint(one[0]))], field)


def refuse(wrong: Iterable[Wrong], field: str | None = None) -> None:
    """Raise SpecError with these faults, if there are any."""
    found = tuple(wrong)
    if found:
        about, sentences = zip(*found, strict=True)
        raise SpecError(sentences[0], field=field, further=sentences[1:], about=about)


def _check_value(value: object, one: Field, shown: str) -> None:
    if one.choices and value not in one.choices:
        raise SpecError(f"{shown} must be one of {', '.join(one.choices)}; found {value!r}")
    if one.kind is bool and not isinstance(value, bool):
        raise SpecError(f"{shown} must be true or false; found {value!r}")
    if one.low is not None and one.high is not None and not _is_whole(value, one.low, one.high):
        raise SpecError(f"{shown} must be a whole number from {one.low} to {one.high}; found {value!r}")
    if one.kind is str:
        check_text_or_none(shown, value)
    elif one.kind == tuple[str, ...] and (value, one.default) != (None, None):
        check_texts(shown, value)
    elif one.kind == tuple[tuple[str, str], ...]:
        check_pairs(shown, value)


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def is_number(value: object) -> bool:
    """Return whether a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def check_text_or_none(name: str, value: object) -> None:
    """Raise SpecError unless the value is a text or None."""
    if not isinstance(value, str | None):
        raise SpecError(f"{name} must be a text or nothing; found {value!r}")


def check_texts(name: str, values: object) -> None:
    """Raise SpecError unless the value is a tuple of texts."""
    if not isinstance(values, tuple) or not all(isinstance(value, str) for value in values):
        raise SpecError(f"{name} must be a list of texts; found {values!r}")


def twice(field: str, values: Sequence[str], what: str, shown: str | None = None) -> Iterator[Wrong]:
    """Yield a fault if `values` has a value twice; `shown` is the field's name in the sentence."""
    if len(set(values)) != len(values):
        yield (field,), f"{shown or f'`{field}`'} names {what} twice"


def check_pairs(name: str, values: object) -> None:
    """Raise SpecError unless the value is a tuple of pairs of texts."""
    if not isinstance(values, tuple):
        raise SpecError(f"{name} must be a list of pairs; found {values!r}")
    for pair in values:
        check_texts(name, pair)
        if len(pair) != 2:
            raise SpecError(f"{name} must hold pairs of texts; found {pair!r}")
