"""Pages run through the entry script, on an engine of threads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.engine import engine as engine_module
from grasp_core.engine import workers
from grasp_core.engine.engine import Engine
from grasp_core.example import example_files, example_spec
from grasp_core.io.load import load
from grasp_core.io.tables import read_table
from grasp_core.result import RunResult

ENTRY = Path(__file__).resolve().parents[2] / "pages" / "main.py"


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    made = Engine(workers.threads)
    monkeypatch.setattr(engine_module, "shared", lambda: made)
    yield made
    made.close()


@pytest.fixture
def page(engine: Engine) -> AppTest:
    """The app as a new visitor finds it."""
    return AppTest.from_file(ENTRY, default_timeout=60).run()


@pytest.fixture(scope="session")
def example() -> dict[str, bytes]:
    return example_files()


@pytest.fixture(scope="session")
def example_result(example: dict[str, bytes]) -> RunResult:
    """The example's answer, computed once."""
    spec = example_spec()
    made = Engine(workers.threads)
    tables = [read_table(content, name) for name, content in example.items()]
    run = made.submit(load(*tables, spec.data), spec)
    assert run.wait(120)
    made.close()
    assert run.result is not None
    return run.result
