"""A real browser for all tests that want one; skipped where there is no Chromium."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, expect, sync_playwright

from tests import scheduling
from tests.programs import named
from tests.scheduling import SERVERS

if TYPE_CHECKING:
    from xdist.remote import Producer

    from grasp_core.model.result import RunResult

PATIENCE_MS = 60_000

# Before NumPy is imported. There is a test process for each core, and threads of linear algebra that wait for
# one another take ten times the work of one.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Without time limits: the first example may have to wait for a compiler, or for busy cores. "steady" gives
# the same examples each time, so that a test fails for what was changed; "search" looks for others, "long"
# for many more. Tests that want more or fewer take a multiple of the profile's number.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=24)
settings.register_profile("search", deadline=None)
settings.register_profile("long", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("GRASP_EXAMPLES", "steady"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import nothing that ``-m 'browser ...'`` or ``-m 'not server ...'`` leaves out."""
    if config.option.markexpr.startswith("browser") and collection_path.suffix == ".py":
        return "browser" not in collection_path.read_text(encoding="utf-8") or None
    return ("not server" in config.option.markexpr and scheduling.room(collection_path) in SERVERS) or None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores: at any time some test waits for a server or a database."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> scheduling.ByFile:
    return scheduling.ByFile(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what needs a server, and put long tests first where several processes share them."""
    for item in items:
        if scheduling.room(item.path) in SERVERS:
            item.add_marker(pytest.mark.server)
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: scheduling.longest_first(item.path))


def pytest_collection() -> None:
    """Search for no garbage among what is imported: it stays."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave what has been imported out of all later searches, which are fewer than Python makes by itself."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    gc.enable()


@pytest.fixture(autouse=True)
def own_main_module() -> Iterator[None]:
    """A script that Streamlit runs stays the process's main module, which a spawned worker would run anew."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(autouse=True, scope="module")
def _cheaply(request: pytest.FixtureRequest) -> Iterator[None]:
    """Files are read and written in the test's own process, a tenth of the work, passwords hashed in no time.

    Parts of charts are not validated when they are made, as on pages; in tests/report/charts they are.
    """
    if request.node.get_closest_marker("in_earnest"):
        yield
        return
    from grasp_core.reading.guess import tables  # which loads NumPy
    from grasp_core.reading.sandbox import read
    from grasp_core.store import links as passwords
    from tests.reading.making import handled_here, parsed_here

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read, "read", parsed_here)
        patch.setattr(tables, "handle", handled_here)
        patch.setattr(passwords, "LOG2_N", 4)
        for module, name, value in (  # which take long to load where nothing is drawn
            ("altair.utils.schemapi", "DEBUG_MODE", False),
            ("grasp_core.report.writers.cache", "call", _called_here),
        ):
            if module in sys.modules:
                patch.setattr(sys.modules[module], name, value)
        yield


def _called_here(_helper: object, work: Callable[..., Any], given: Mapping[str, object], *_: object) -> Any:
    """As :func:`grasp_core.reading.sandbox.read.call`, in this process."""
    from grasp_core.model.json_values import from_json

    kinds = get_type_hints(work)
    return work(**{name: from_json(value, kinds[name]) for name, value in given.items()})


@pytest.fixture(scope="session")
def example() -> dict[str, bytes]:
    """The example's files, by name."""
    from grasp_core.model.example import example_files  # which loads NumPy

    return example_files()


@pytest.fixture(scope="session")
def example_result(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    """The example's answer of 5,000 permutations, computed once."""
    from grasp_core.model.example import example_files, example_spec
    from grasp_core.reading.dataset.load import load
    from grasp_core.reading.sandbox.read import read_table
    from tests.computing import compute_in_threads, once

    def make() -> RunResult:
        whole = example_spec()
        spec = replace(whole, analysis=replace(whole.analysis, permutations=5000))
        tables = [read_table(content, name) for name, content in example_files().items()]
        return compute_in_threads(load(*tables, spec.data), spec)

    return once(tmp_path_factory, "example", make)


@pytest.fixture
def few_data_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans simulate few data sets and pilots, where not their numbers are asked about."""
    from grasp_core.analysis.planner import simulation  # which loads NumPy

    for name, value in {"ROUGH": 10, "PASSES": (15,), "ALONG": 1, "PILOTS": 3, "OF_PILOT": 10}.items():
        monkeypatch.setattr(simulation, name, value)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    names = ("chromium", "chromium-browser", "google-chrome")
    chosen = named("GRASP_CHROMIUM")
    found = chosen or next(filter(None, map(shutil.which, names)), None)
    if found is None and chosen is None:  # empty: Playwright's own browser
        pytest.skip("needs Chromium: none of " + ", ".join(names) + " is installed")
    expect.set_options(timeout=PATIENCE_MS)
    flags = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=flags)
        yield launched
        launched.close()
