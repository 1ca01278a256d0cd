"""Conversion of values to JSON and back, by the types of their fields.

A field's value must have exactly the field's type; nothing is converted. ``"7"`` is no number, ``true`` no
whole number, a text no list. Errors name the place: "groups[0].statistics.irr: `p` must be..."

- A data class is an object of its fields. All must be present except those marked :data:`ADDED`. Other names
  are ignored, so that files of later versions can be read.
- People may write a data class marked :func:`closed`: fields with a default may be left out, and unknown
  names are refused. All errors are reported at once: while the other fields are checked, `instead` from the
  metadata of a faulty field without a default replaces its value.
- An array of numbers is an object of its type, shape and bytes; result files contain none.
- If a value has another form in files, that form is defined beside its class, with :func:`in_file` or a hook
  on :data:`CONVERTER`.
"""

import base64
import dataclasses
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeVar, get_args, get_origin

from cattrs import Converter
from cattrs.cols import homogenous_tuple_structure_factory, is_mapping, mapping_structure_factory
from cattrs.errors import (
    AttributeValidationNote,
    BaseValidationError,
    ClassValidationError,
    ForbiddenExtraKeysError,
    IterableValidationNote,
)
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from grasp_core.model.errors import DataError, GraspError, SpecError

T = TypeVar("T")
Reshape = Callable[[dict[str, Any]], dict[str, Any]]

ADDED: Mapping[str, bool] = {"added": True}
"""Metadata of a field that files of earlier versions lack; it is not written while it has its default."""
CONVERTER = Converter(unstruct_collection_overrides={tuple: list, Mapping: dict})
_CLOSED: set[type] = set()
_OTHERS = (LookupError, TypeError, ValueError, AttributeError)
"""Exceptions that code raises when a value is of another kind than it expects."""
_SHOWN = 60


class FormError(ValueError):
    """JSON that does not fit the type asked for; the message gives the place, the finding and the remedy."""

    def __init__(self, sentence: str, further: Sequence[str] = ()) -> None:
        super().__init__(sentence)
        self.sentences = (sentence, *further)


class WrongKindError(FormError):
    """A value of another kind than its field's."""

    def __init__(self, found: object, expected: str) -> None:
        super().__init__(f"{_shown(found)} (expected {expected})")
        self.sentence = f"must be {expected}; found {_shown(found)}"


def closed(kind: type[T]) -> type[T]:
    """Class decorator: in JSON, fields with a default may be left out and unknown names are refused."""
    _CLOSED.add(kind)
    return kind


def to_json(value: Any) -> Any:
    """JSON-ready form of a value; :func:`from_json` reads it back."""
    return CONVERTER.unstructure(value)


def from_json(plain: Any, kind: type[T]) -> T:
    """Return the value from its form by :func:`to_json`; raise :class:`FormError` if it does not fit."""
    try:
        return CONVERTER.structure(plain, kind)
    except (BaseValidationError, GraspError, *_OTHERS) as error:
        first, *further = _told(error)
        raise FormError(first, further) from None
    except RecursionError:
        raise FormError("it is nested too deeply") from None


@contextmanager
def damaged(what: str) -> Iterator[None]:
    """Turn errors about missing or wrong fields into a :class:`DataError` that calls the file damaged."""
    try:
        yield
    except (FormError, GraspError) as error:
        raise DataError(f"{what} is damaged: {error}") from None
    except (*_OTHERS, OverflowError, RecursionError) as error:
        raise DataError(f"{what} is damaged: {type(error).__name__} at {error}") from None


def require_header(plain: Any, kind: str, name: str, versions: Sequence[int]) -> Mapping[str, Any]:
    """Return a file's content; raise DataError unless its format and version are as expected."""
    if not isinstance(plain, dict) or plain.get("format") != name:
        raise DataError(f'this is not {kind}: it lacks "format": "{name}"')
    if plain.get("version") not in versions:
        read = " and ".join(map(str, versions))
        raise DataError(f"the result has format version {plain.get('version')!r}; this GRASP reads {read}")
    return plain


def _told(error: BaseException, place: str = "") -> Iterator[str]:
    """Yield a sentence for each error, with its place."""
    for note in getattr(error, "__notes__", ()):
        if isinstance(note, AttributeValidationNote):
            place += f".{note.name}"
        elif isinstance(note, IterableValidationNote):
            place += f".{note.index}" if str(note.index).isidentifier() else f"[{_shown(note.index)}]"
    if isinstance(error, BaseValidationError):
        for one in error.exceptions:
            yield from _told(one, place)
        return
    place = place.removeprefix(".")
    if isinstance(error, WrongKindError) and place:
        place, _, field = place.rpartition(".")
        found: Sequence[str] = (f"`{field}` {error.sentence}",)
    elif isinstance(error, KeyError):
        found = (f"{_shown(error.args[0])} is missing",)
    elif isinstance(error, ForbiddenExtraKeysError):
        found = [f"there is no {_shown(name)}" for name in sorted(error.extra_fields)]
    elif isinstance(error, SpecError) and place:
        found = (error.sentence, *error.further)
    elif isinstance(error, FormError):
        found = error.sentences
    else:
        found = (str(error),)
    yield from (f"{place}: {said}" if place else said for said in found)


def _shown(found: object) -> str:
    shown = repr(found)
    return shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"


def _of(kind: type[T], expected: str) -> Callable[[Any, Any], T]:
    """Return a hook that passes on a value of exactly this type and refuses all others."""

    def same(value: Any, _: Any) -> T:
        if type(value) is not kind:
            raise WrongKindError(value, expected)
        return value

    return same


def _is(origin: object) -> Callable[[Any], bool]:
    return lambda kind: get_origin(kind) is origin


def _number(value: Any, _: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise WrongKindError(value, "a finite number")
    return float(value)


CONVERTER.register_structure_hook(str, _of(str, "a text"))
CONVERTER.register_structure_hook(bool, _of(bool, "true or false"))
CONVERTER.register_structure_hook(int, _of(int, "a whole number"))
CONVERTER.register_structure_hook(float, _number)


@CONVERTER.register_structure_hook_factory(_is(Literal))
def _one_of(kind: Any) -> Callable[[Any, Any], Any]:
    choices = get_args(kind)

    def chosen(value: Any, _: Any) -> Any:
        if value not in choices:
            raise WrongKindError(value, f"one of {', '.join(map(str, choices))}")
        return value

    return chosen


@CONVERTER.register_structure_hook_factory(_is(tuple))
def _list(kind: Any) -> Callable[[Any, Any], Any]:
    if get_args(kind)[-1] is Ellipsis:
        return _inside(homogenous_tuple_structure_factory(kind, CONVERTER), (list, tuple), "a list")
    structure, expected = CONVERTER.gen_structure_hetero_tuple(kind), f"a list of {len(get_args(kind))}"

    def whole(value: Any, _: Any) -> Any:
        if len(value) != len(get_args(kind)):
            raise WrongKindError(value, expected)
        return structure(value, kind)

    return _inside(whole, (list, tuple), expected)


@CONVERTER.register_structure_hook_factory(is_mapping)
def _mapping(kind: Any) -> Callable[[Any, Any], Any]:
    return _inside(mapping_structure_factory(kind, CONVERTER, structure_to=dict), (dict,), "an object")


@CONVERTER.register_structure_hook_factory(dataclasses.is_dataclass)
def _object(kind: Any) -> Callable[[Any, Any], Any]:
    strict = kind in _CLOSED
    structure = make_dict_structure_fn(kind, CONVERTER, _cattrs_forbid_extra_keys=strict)
    needed, fields = [], dataclasses.fields(kind)
    for field in fields:
        default = (field.default, field.default_factory) != (dataclasses.MISSING, dataclasses.MISSING)
        if field.init and not field.metadata.get("added") and not (strict and default):
            needed.append(field.name)
    instead = {field.name: field.metadata["instead"] for field in fields if "instead" in field.metadata}

    def whole(plain: Any, _: Any) -> Any:
        missing = [name for name in needed if name not in plain]
        if missing:
            first, *further = [f"{_shown(name)} is missing" for name in missing]
            raise FormError(first, further)
        try:
            return structure(plain, kind)
        except ClassValidationError as error:
            faulty = _at_fault(error)
            sound = {**instead, **{name: value for name, value in plain.items() if name not in faulty}}
            if not (strict and faulty and sound.keys() >= {*needed}):
                raise
            try:
                structure(sound, kind)
            except ClassValidationError as further:
                others = [_but_about(faulty, one) for one in further.exceptions]
                raise error.derive([*error.exceptions, *filter(None, others)]) from None
            raise

    return _inside(whole, (dict,), "an object")


def _at_fault(error: ClassValidationError) -> set[str]:
    """Return the names of faulty fields, and names that are no fields."""
    fields, others = error.group_exceptions()
    unknown = [one.extra_fields for one in others if isinstance(one, ForbiddenExtraKeysError)]
    return {note.name for _, note in fields}.union(*unknown)


def _but_about(faulty: set[str], error: Exception) -> Exception | None:
    """Return the part of an error that is about other fields than `faulty`; None if there is none."""
    if not isinstance(error, SpecError) or not error.about:
        return error
    said = zip((error.sentence, *error.further), error.about, strict=True)
    others = [sentence for sentence, about in said if faulty.isdisjoint(about)]
    return SpecError(others[0], further=others[1:]) if others else None


def _is_array(kind: Any) -> bool:
    numpy: Any = sys.modules.get("numpy")  # imported before its types can be named; most imports do without
    return numpy is not None and (get_origin(kind) or kind) is numpy.ndarray


@CONVERTER.register_structure_hook_factory(_is_array)
def _array(_: Any) -> Callable[[Any, Any], Any]:
    import numpy as np

    def read(plain: Any, _: Any) -> Any:
        kind, content = np.dtype(plain["dtype"]), base64.b64decode(plain["base64"])
        if kind.hasobject:
            raise WrongKindError(plain["dtype"], "numbers")
        return np.frombuffer(content, kind).reshape(plain["shape"])  # read-only

    return _inside(read, (dict,), "an object")


@CONVERTER.register_unstructure_hook_factory(_is_array)
def _of_array(_: Any) -> Callable[[Any], dict[str, Any]]:
    def write(array: Any) -> dict[str, Any]:
        content = base64.b64encode(array.tobytes()).decode()
        return {"dtype": array.dtype.str, "shape": array.shape, "base64": content}

    return write


@CONVERTER.register_unstructure_hook_factory(dataclasses.is_dataclass)
def _fields(kind: Any) -> Callable[[Any], dict[str, Any]]:
    added: Any = {
        field.name: override(omit_if_default=True)
        for field in dataclasses.fields(kind)
        if field.metadata.get("added")
    }
    return make_dict_unstructure_fn(kind, CONVERTER, _cattrs_include_init_false=True, **added)


def in_file(kind: type, write: Reshape, read: Reshape) -> None:
    """Give a data class another form in files."""

    def unstructuring(_: Any) -> Callable[[Any], Any]:
        fields = _fields(kind)
        return lambda value: write(fields(value))

    def structuring(_: Any) -> Callable[[Any, Any], Any]:
        structure = _object(kind)
        return _inside(lambda plain, _: structure(read(plain), kind), (dict,), "an object")

    CONVERTER.register_unstructure_hook_factory(lambda found: found is kind, unstructuring)
    CONVERTER.register_structure_hook_factory(lambda found: found is kind, structuring)


def _inside(
    structure: Callable[[Any, Any], T], kinds: tuple[type, ...], expected: str
) -> Callable[[Any, Any], T]:
    """Return a hook for values that contain others: check the outer value's kind first."""

    def checked(value: Any, kind: Any) -> T:
        if not isinstance(value, kinds):
            raise WrongKindError(value, expected)
        return structure(value, kind)

    return checked
