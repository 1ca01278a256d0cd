"""Pages run through the entry script, on a server that computes in threads."""

import functools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest, local_script_runner

from grasp_core.engine.pools import workers
from grasp_core.model.settings import Settings
from grasp_core.server import server as server_module
from grasp_core.server.server import Server
from tests.empty_store import empty_home
from tests.engine.asking import planting as planting
from tests.few_items import few_items

ENTRY = Path(__file__).resolve().parents[2] / "pages" / "main.py"


@pytest.fixture(scope="session", autouse=True)
def packages_looked_through_once() -> Iterator[None]:
    """Streamlit asks every installed package for components, for each visitor of a tested page anew."""
    with pytest.MonkeyPatch.context() as patched:
        found = functools.cache(manifest_scanner.scan_component_manifests)
        patched.setattr(manifest_scanner, "scan_component_manifests", found)
        yield


@pytest.fixture(scope="session", autouse=True)
def scripts_waited_for() -> Iterator[None]:
    """Streamlit looks a thousand times a second whether a tested page is drawn, in the processor's time."""
    looks = local_script_runner.require_widgets_deltas

    def wait(runner: local_script_runner.LocalScriptRunner, timeout: float) -> None:
        runner.join()
        looks(runner, timeout)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(local_script_runner, "require_widgets_deltas", wait)
        yield


@pytest.fixture(autouse=True)
def no_server_of_whoever_runs_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would open their store, and end only after the last test."""

    def missing() -> Server:
        raise AssertionError("this test needs the fixture server")

    monkeypatch.setattr(server_module, "shared", missing)


@pytest.fixture(scope="session")
def example() -> dict[str, bytes]:
    """The example's files with few items: pages treat them as they treat many, and runs take less."""
    return few_items()


@pytest.fixture
def settings() -> Settings:
    """The server's, but for its home; of tests of a setting they name their own."""
    return Settings()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Settings) -> Iterator[Server]:
    made = Server(replace(settings, home=empty_home(tmp_path)), workers.threads)
    made.service.start()  # nothing is swept, nor a process made that reads: files are read here
    monkeypatch.setattr(server_module, "shared", lambda: made)
    yield made
    made.close()


@pytest.fixture
def nothing_computed(server: Server) -> None:
    """Of a run it is looked at what was asked."""
    server.service.close()


@pytest.fixture
def page(server: Server) -> AppTest:
    """The app as a new visitor opens it: nothing is drawn yet."""
    return AppTest.from_file(ENTRY, default_timeout=60)
