"""Values to JSON and back: what is written, and how what is wrong is told."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.json_values import ADDED, FormError, closed, damaged, from_json, in_file, to_json


@closed
@dataclass(frozen=True)
class Asked:
    name: str
    least: int = 1

    def __post_init__(self) -> None:
        if self.least < 1:
            raise SpecError("`least` must be from 1")


@dataclass(frozen=True)
class Found:
    asked: Asked
    value: float | None
    kind: Literal["one", "other"]
    sure: bool
    span: tuple[int, float]
    by_name: Mapping[str, tuple[str, ...]]
    later: str | None = field(default=None, metadata=ADDED)


@dataclass(frozen=True)
class Turned:
    left: int
    right: int


in_file(
    Turned,
    lambda fields: {"both": f"{fields['left']}-{fields['right']}"},
    lambda plain: dict(zip(("left", "right"), map(int, plain["both"].split("-")), strict=True)),
)

FOUND = Found(Asked("a", 2), 0.5, "one", True, (1, 2.5), {"x": ("y", "z"), "w": ()})
PLAIN = {
    "asked": {"name": "a", "least": 2},
    "value": 0.5,
    "kind": "one",
    "sure": True,
    "span": [1, 2.5],
    "by_name": {"x": ["y", "z"], "w": []},
}


def test_values_are_objects_of_their_fields_in_order_and_come_back() -> None:
    assert json.dumps(to_json(FOUND)) == json.dumps(PLAIN)
    assert from_json(PLAIN, Found) == FOUND
    found = from_json({**PLAIN, "value": 1}, Found)
    assert (found.value, type(found.value)) == (1.0, float)


def test_fields_that_are_more_or_fewer() -> None:
    assert from_json({**PLAIN, "unheard_of": 1}, Found) == FOUND
    later = from_json({**PLAIN, "later": "text"}, Found)
    assert later.later == "text"
    assert to_json(later) == {**PLAIN, "later": "text"}
    assert from_json({"name": "a"}, Asked) == Asked("a")
    assert to_json(Asked("a")) == {"name": "a", "least": 1}


def test_another_form_in_files() -> None:
    assert to_json((Turned(1, 2),)) == [{"both": "1-2"}]
    assert from_json([{"both": "1-2"}], tuple[Turned, ...]) == (Turned(1, 2),)
    with pytest.raises(FormError, match=r"^\[0\]: 'both' is missing$"):
        from_json([{"left": 1, "right": 2}], tuple[Turned, ...])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"value": "0.5"}, "`value` must be a finite number; found '0.5'"),
        ({"value": float("nan")}, "`value` must be a finite number; found nan"),
        ({"value": True}, "`value` must be a finite number; found True"),
        ({"kind": "third"}, "`kind` must be one of one, other; found 'third'"),
        ({"kind": {}}, "`kind` must be one of one, other; found {}"),
        ({"sure": 1}, "`sure` must be true or false; found 1"),
        ({"span": [1.0, 2.5]}, "`span[0]` must be a whole number; found 1.0"),
        ({"span": "12"}, "`span` must be a list of 2; found '12'"),
        ({"by_name": {"x": ["y", 3]}}, "by_name: `x[1]` must be a text; found 3"),
        ({"by_name": {"x\n": 3}}, r"`by_name['x\n']` must be a list; found 3"),
        ({"by_name": []}, "`by_name` must be an object; found []"),
        ({"asked": None}, "`asked` must be an object; found None"),
        ({"asked": {}}, "asked: 'name' is missing"),
        ({"asked": {"name": "a", "most": 3}}, "asked: there is no 'most'"),
        ({"asked": {"name": "a", "least": 0}}, "asked: `least` must be from 1"),
        ({"asked": "x" * 100}, f"`asked` must be an object; found '{'x' * 59}…"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(FormError) as caught:
        from_json({**PLAIN, **changed}, Found)
    assert str(caught.value) == said


@pytest.mark.parametrize("name", PLAIN)
def test_a_missing_field_is_named(name: str) -> None:
    with pytest.raises(FormError, match=f"^{name!r} is missing$"):
        from_json({field: value for field, value in PLAIN.items() if field != name}, Found)


def test_lists_of_another_length() -> None:
    for span in ([], [1], [1, 2.5, 3]):
        with pytest.raises(FormError, match=r"^`span` must be a list of 2"):
            from_json({**PLAIN, "span": span}, Found)


def test_a_damaged_file_is_named() -> None:
    with (
        pytest.raises(DataError, match=r"^the file is damaged: `value` must be a finite number; found 'x'$"),
        damaged("the file"),
    ):
        from_json({**PLAIN, "value": "x"}, Found)
    with pytest.raises(DataError, match=r"^the file is damaged: KeyError at 'x'$"), damaged("the file"):
        PLAIN["x"]
