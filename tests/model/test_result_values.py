"""The result's file form: everything comes back, and damaged files are refused in a sentence."""

import contextlib
import json
from collections.abc import Iterator

import pytest

from grasp_core.model.errors import DataError, GraspError
from grasp_core.model.outcome import Outcome
from grasp_core.model.remarks.remark import said
from grasp_core.model.result import RunResult
from tests.results import changed, make_group, make_outcome, make_result


def plain() -> dict:
    """A result with every kind of cell: tested, not estimable, without a p-value."""
    row = make_group(
        irr=make_outcome(0.3, "up", "*"),
        xrr=Outcome(None, reason=said("no item was rated both by the group and by the others")),
        negentropy=Outcome(0.2, reason=said("only 5 shuffled values were estimable"), null_n=5),
        gai=Outcome(None, reason=said("its XRR has no value")),
    )
    return make_result((row,), dsi=(), warnings=("a warning",)).to_dict()


def test_round_trip_in_a_form_that_names_its_format() -> None:
    for result in (make_result(), make_result(strata=("gender",), p_value="paper")):
        text = json.dumps(result.to_dict(), allow_nan=False)
        assert RunResult.from_dict(json.loads(text)) == result
    assert RunResult.from_dict(plain()).to_dict() == plain()
    stored = make_result().to_dict()
    assert stored["format"] == "grasp-run"
    assert stored["version"] == 3
    assert stored["groups"][0]["axis"] == ["age"]
    assert stored["groups"][0]["group"] == {"age": "gen x+"}


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        (None, "not a GRASP result"),
        ([], "not a GRASP result"),
        ({}, "not a GRASP result"),
        ({"format": "grasp-other", "version": 1}, "not a GRASP result"),
        ({"format": "grasp-run"}, "version None"),
        ({"format": "grasp-run", "version": 4}, "version 4"),
        ({"format": "grasp-run", "version": 1}, "damaged"),
    ],
)
def test_other_files_are_refused(changed, named: str) -> None:
    with pytest.raises(DataError, match=named):
        RunResult.from_dict(changed)


def places(value: object, path: tuple = ()) -> Iterator[tuple]:
    if path:
        yield path
    if isinstance(value, dict):
        for name, entry in value.items():
            yield from places(entry, (*path, name))
    if isinstance(value, list):
        for index, entry in enumerate(value):
            yield from places(entry, (*path, index))


SMALL = make_result().to_dict()
SMALL["groups"], SMALL["dsi"] = SMALL["groups"][:1], SMALL["dsi"][:1]
SMALL["groups"][0]["statistics"] = {"irr": SMALL["groups"][0]["statistics"]["irr"]}
for histogram in (SMALL["groups"][0]["statistics"]["irr"]["null"], SMALL["dsi"][0]["null"]):
    histogram["counts"] = histogram["counts"][:2]
EVERYWHERE = list(places(SMALL))


@pytest.mark.parametrize(
    "value", [None, [], {}, "text", True, -1, float("nan"), float("inf"), [[None]], {"a": None}], ids=repr
)
def test_damage_anywhere_is_read_or_refused_but_never_a_crash(value) -> None:
    """Every field in turn gets a value of another kind."""
    refused = 0
    for path in EVERYWHERE:
        try:
            RunResult.from_dict(changed(SMALL, path, value))
        except GraspError as error:
            refused += 1
            assert "\n" not in str(error)  # noqa: PT017
    assert refused > len(EVERYWHERE) / 4


@pytest.mark.parametrize("path", [path for path in EVERYWHERE if isinstance(path[-1], str)], ids=str)
def test_a_missing_field_is_refused_or_has_a_default(path) -> None:
    broken = changed(SMALL, path)
    if path[0] == "spec" and len(path) > 2:  # a spec may leave out what has a default
        with contextlib.suppress(GraspError):
            RunResult.from_dict(broken)
        return
    if path[:2] == ("groups", 0) and path[-1] == "irr":  # a statistic that was not chosen
        RunResult.from_dict(broken)
        return
    with pytest.raises(GraspError):
        RunResult.from_dict(broken)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("warnings",), "a text is not a list of texts"),
        (("data", "categories"), "NoYes"),
        (("data", "items"), float("inf")),
        (("data", "sha256"), 5),
        (("groups", 0, "statistics", "irr", "value"), float("nan")),
        (("groups", 0, "statistics", "irr", "p"), "0.05"),
        (("groups", 0, "statistics", "irr", "direction"), "sideways"),
        (("groups", 0, "statistics", "irr", "significance"), None),
        (("groups", 0, "statistics", "irr", "null_n"), float("inf")),
        (("dsi", 0, "significance"), "very"),
        (("timing", "unheard_of_s"), 1.0),
        (("timing",), {"load_s": 1.0}),
        (("spec", "analysis", "permutations"), 0),
        (("spec", "data"), []),
    ],
)
def test_wrong_kinds_are_refused_in_a_sentence(path, value) -> None:
    with pytest.raises(GraspError) as caught:
        RunResult.from_dict(changed(SMALL, path, value))
    assert "\n" not in str(caught.value)
