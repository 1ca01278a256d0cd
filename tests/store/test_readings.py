"""Readings on both databases: one's own first, then the team's latest, and none that cannot be read."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine

from grasp_core.model.data_spec import Bins, Combine, DataSpec, Filters, MapValues
from grasp_core.model.json_values import to_json
from grasp_core.model.spec import AnalysisSpec
from grasp_core.store.readings import MAX_BYTES, Draft, DraftFile, DraftStore, ReadingStore, without_ids
from grasp_core.store.schema import drafts, readings
from tests.store.both import on_both
from tests.store.making import HOSTILE, change, column

LONG = DataSpec(item="item", rater="rater", label="label")
RICH = DataSpec(
    item="item",
    rater="rater",
    label="any",
    categories=("No", "Ünsure", "Yes"),
    missing=("", "NA"),
    exclude=(("removed", "True"),),
    recode=(
        MapValues(None, (("y", "Yes"), ("n", "No"))),
        Bins("age", (18.0, 40.5), ("young", "middle", "old")),
        Combine(("q1", "q2"), ("Yes", "No"), "any"),
    ),
    filters=Filters(drop=(("status", "test"),), time="seconds", min_time=2.5, min_per_rater=3),
    member="May",
    raters_member="People",
)


@pytest.fixture
def store(engine: Engine) -> ReadingStore:
    return ReadingStore(engine)


@pytest.mark.parametrize("spec", [LONG, RICH, DataSpec("items-by-raters", item="i", ignore=("x",))])
def test_a_reading_comes_back_as_it_was(store: ReadingStore, spec: DataSpec) -> None:
    store.remember("1" * 64, spec, ("gender", "Älter?"), owner="ann")
    found = store.recall("1" * 64, owner="ann")
    assert (found.spec, found.axes, found.owner, found.ids_left_out) == (spec, ("gender", "Älter?"), "ann", 0)
    assert found.answers == {}
    assert store.recall("2" * 64, owner="ann") is None
    store.remember("1" * 64, spec, (), owner="ann", answers={"removed": True, "numbers": False})
    assert store.recall("1" * 64, owner="ann").answers == {"removed": True, "numbers": False}


def test_a_reading_that_was_kept_without_answers_is_read(engine: Engine, store: ReadingStore) -> None:
    store.remember("1" * 64, LONG, ("gender",), owner="ann")
    change(engine, readings, data=json.dumps(to_json(LONG)))
    found = store.recall("1" * 64, owner="ann")
    assert (found.spec, found.answers) == (LONG, {})


def test_ones_own_reading_comes_first_and_then_the_teams_latest(engine: Engine, store: ReadingStore) -> None:
    for moment, owner in enumerate(("ann", "bob", "carl", "bob")):
        store.remember("1" * 64, LONG, (f"axis {moment}",), owner=owner)
        change(engine, readings, updated_at=readings.c.updated_at - 1)  # and a second goes by
    assert len(column(engine, readings, "owner")) == 3
    recalled = {owner: store.recall("1" * 64, owner=owner) for owner in ("ann", "bob", "dora")}
    assert {owner: found and (found.owner, found.axes) for owner, found in recalled.items()} == {
        "ann": ("ann", ("axis 0",)),
        "bob": ("bob", ("axis 3",)),
        "dora": ("bob", ("axis 3",)),
    }


def test_what_names_raters_or_items_is_counted_and_not_kept(engine: Engine, store: ReadingStore) -> None:
    spec = DataSpec(
        item="item",
        rater="rater",
        label="label",
        exclude=(("rater", "person 7"), ("removed", "True")),
        recode=(MapValues("rater", (("person 8", "person 9"),)), MapValues(None, (("y", "Yes"),))),
        filters=Filters(drop=(("item", "person 1"), ("status", "x")), raters=("person 2", "person 3")),
    )
    kept, left_out = without_ids(spec)
    assert left_out == 5
    assert kept.exclude == (("removed", "True"),)
    assert kept.filters == Filters(drop=(("status", "x"),))
    assert kept.recode == (MapValues(None, (("y", "Yes"),)),)
    store.remember("1" * 64, spec, (), owner="ann")
    found = store.recall("1" * 64, owner="ann")
    assert (found.spec, found.ids_left_out) == (kept, 5)
    assert "person" not in "".join(column(engine, readings, "data"))


@pytest.mark.parametrize(
    "values",
    [
        {"data": "{}"},
        {"data": "no JSON"},
        {"data": "[" * 100_000},
        {"data": "[]"},
        {"data": "null"},
        {"data": json.dumps({"layout": "diagonal", "item": "i"})},
        {"data": json.dumps({"item": "i", "rater": "r", "label": "l", "of_a_later_version": 1})},
        {"data": json.dumps({"item": "i", "rater": "r", "label": "l", "recode": [{"kind": "eval"}]})},
        {"data": json.dumps({"item": "i", "rater": "r", "label": "l", "recode": [7]})},
        {"data": json.dumps({"item": "i", "rater": "r", "label": "l", "filters": {"later": 1}})},
        {"axes": "{}"},
        {"axes": "[1]"},
        {"axes": "gender"},
    ],
)
def test_what_another_version_wrote_is_passed_over(engine, store, values) -> None:
    store.remember("1" * 64, LONG, ("gender",), owner="ann")
    change(engine, readings, **values)
    assert store.recall("1" * 64, owner="ann") is None
    store.remember("1" * 64, LONG, ("gender",), owner="bob")
    found = store.recall("1" * 64, owner="ann")
    assert found.owner == "bob"


@on_both
def test_many_at_once_leave_one_reading_a_person(engine: Engine, store: ReadingStore) -> None:
    with ThreadPoolExecutor(6) as visitors:
        list(visitors.map(lambda n: store.remember("1" * 64, LONG, (), owner=f"user {n % 2}"), range(12)))
    assert sorted(column(engine, readings, "owner")) == ["user 0", "user 1"]


@on_both
def test_hostile_texts(store: ReadingStore) -> None:
    for text in (*HOSTILE, "\x00", "\ud800"):
        store.remember("1" * 64, DataSpec(item="i", rater="r", label=text or "l"), (text,), owner=text)
        found = store.recall("1" * 64, owner=text)
        assert found.axes == (text,)


def test_old_readings_go(engine: Engine, store: ReadingStore) -> None:
    store.remember("1" * 64, LONG, (), owner="ann")
    assert store.delete_older_than(1) == 0
    change(engine, readings, updated_at=0.0)
    assert store.delete_older_than(1) == 1
    assert store.recall("1" * 64, owner="ann") is None


# Drafts: one for each person in a project, gone after its time
FILE = DraftFile("votes.csv", "5" * 64, None)
DRAFT = Draft(
    annotations=FILE,
    raters=DraftFile("people.xlsx", "6" * 64, "People"),
    items=None,
    spec=DataSpec(item="item", rater="rater", label="label", exclude=(("removed", "True"),)),
    axes=("gender", "age"),
    answers={"removed": True, "numbers-1-2-3": False},
    decided=DataSpec(item="item", rater="rater", label="label"),
    analysis=AnalysisSpec(axes=(("gender",),), seed=7),
)


@pytest.fixture
def kept(engine: Engine) -> DraftStore:
    return DraftStore(engine)


@on_both
def test_the_last_one_of_each_person_is_found(engine: Engine, kept: DraftStore) -> None:
    kept.save(Draft(FILE, None, None), owner="ann")
    kept.save(DRAFT, owner="ann")
    kept.save(Draft(FILE, None, None), owner="bob")
    assert kept.load(owner="ann") == DRAFT
    assert kept.load(owner="eve") is None
    assert sorted(column(engine, drafts, "owner")) == ["ann", "bob"]


@on_both
def test_one_without_files_takes_the_earlier_away(kept: DraftStore) -> None:
    kept.save(DRAFT, owner="ann")
    kept.save(Draft(None, None, None), owner="ann")
    assert kept.load(owner="ann") is None


def test_one_that_is_too_long_or_cannot_be_read_is_none(engine: Engine, kept: DraftStore) -> None:
    kept.save(Draft(FILE, None, None, answers={"x" * MAX_BYTES: True}), owner="ann")
    assert kept.load(owner="ann") is None
    kept.save(DRAFT, owner="ann")
    change(engine, drafts, data='{"of": "another version"}')
    assert kept.load(owner="ann") is None


def test_old_ones_go(engine: Engine, kept: DraftStore) -> None:
    kept.save(DRAFT, owner="ann")
    assert kept.delete_older_than(24.0) == 0
    change(engine, drafts, updated_at=0.0)
    assert kept.delete_older_than(24.0) == 1
