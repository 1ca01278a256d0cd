"""Answers about runs on both databases: kept with the run, the latest of each name."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine

from grasp_core.model.errors import DataError
from grasp_core.store import runs as answers_module
from grasp_core.store.runs import AnswerStore, RunStore
from grasp_core.store.schema import answers
from tests.store.both import on_both
from tests.store.making import HOSTILE, column, create


@pytest.fixture
def run_id(engine: Engine) -> str:
    return create(RunStore(engine), "asked about").id


@pytest.mark.parametrize("answer", [{}, [0.1, None, "ünïcödé \x00"], {text: text for text in HOSTILE}])
def test_an_answer_comes_back_as_it_was(engine: Engine, run_id: str, answer: object) -> None:
    store = AnswerStore(engine)
    assert store.find(run_id, "what") is None
    store.keep(run_id, "what", answer)
    assert store.find(run_id, "what") == answer
    assert store.find(run_id, "what else") is None
    assert store.find("another run", "what") is None


@on_both
def test_the_latest_of_each_name_counts(engine: Engine, run_id: str) -> None:
    store = AnswerStore(engine)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: store.keep(run_id, "what", number % 2), range(8)))
    store.keep(run_id, "what", 7)
    store.keep(run_id, "what else", 8)
    assert (store.find(run_id, "what"), store.find(run_id, "what else")) == (7, 8)
    assert sorted(column(engine, answers, "name")) == ["what", "what else"]


def test_of_a_run_that_is_gone_nothing_is_kept(engine: Engine, run_id: str) -> None:
    RunStore(engine).delete(run_id)
    AnswerStore(engine).keep(run_id, "what", 1)
    assert column(engine, answers, "name") == []


def test_what_is_no_json_or_could_not_be_found_again_is_refused(engine, run_id, monkeypatch) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        AnswerStore(engine).keep(run_id, "what", float("nan"))
    monkeypatch.setattr(answers_module, "MAX_BYTES", 2**20)
    store = AnswerStore(engine)
    store.keep(run_id, "what", "a" * (2**20 - 2))
    assert len(str(store.find(run_id, "what"))) == 2**20 - 2
    with pytest.raises(DataError, match="larger than the 1 MB"):
        store.keep(run_id, "what", "a" * (2**20 - 1))
