"""Drafts on both databases: one for each person in a project, gone with its files and after its time."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.spec import AnalysisSpec
from grasp_core.store.readings import MAX_BYTES, Draft, DraftFile, DraftStore
from grasp_core.store.schema import drafts
from tests.store.both import on_both
from tests.store.making import change, column

FILE = DraftFile("votes.csv", "5" * 64, None)
RICH = Draft(
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
def store(engine: Engine) -> DraftStore:
    return DraftStore(engine)


@on_both
def test_the_last_one_of_each_person_is_found(engine: Engine, store: DraftStore) -> None:
    store.save(Draft(FILE, None, None), owner="ann")
    store.save(RICH, owner="ann")
    store.save(Draft(FILE, None, None), owner="bob")
    assert store.load(owner="ann") == RICH
    assert store.load(owner="eve") is None
    assert sorted(column(engine, drafts, "owner")) == ["ann", "bob"]


@on_both
def test_one_without_files_takes_the_earlier_away(store: DraftStore) -> None:
    store.save(RICH, owner="ann")
    store.save(Draft(None, None, None), owner="ann")
    assert store.load(owner="ann") is None


def test_one_that_is_too_long_or_cannot_be_read_is_none(engine: Engine, store: DraftStore) -> None:
    store.save(Draft(FILE, None, None, answers={"x" * MAX_BYTES: True}), owner="ann")
    assert store.load(owner="ann") is None
    store.save(RICH, owner="ann")
    change(engine, drafts, data='{"of": "another version"}')
    assert store.load(owner="ann") is None


def test_old_ones_go(engine: Engine, store: DraftStore) -> None:
    store.save(RICH, owner="ann")
    assert store.delete_older_than(24.0) == 0
    change(engine, drafts, updated_at=0.0)
    assert store.delete_older_than(24.0) == 1
