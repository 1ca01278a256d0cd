"""A real server for a real browser."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from grasp_core.engine.pools import workers
from grasp_core.model.access import LOCAL_USER, Identity
from grasp_core.model.example import example_files
from grasp_core.model.settings import Settings, variable
from grasp_core.server.server import Server
from grasp_core.store.people.people import PeopleStore
from grasp_core.store.people.projects import ProjectStore
from tests.browser.gold import make_gold
from tests.browser.signing import PEOPLE, Site, signing_in
from tests.conftest import PATIENCE_MS
from tests.few_items import few_items
from tests.provider import providing
from tests.server.watching import look, ran, votes
from tests.serving import ROOT, Served, serving

SCREENSHOTS = ROOT / "test-results" / "pages"

OpenPage = Callable[..., Page]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def example() -> dict[str, bytes]:
    """The example's files with few items: what is looked at does not depend on their number."""
    return few_items()


@pytest.fixture(scope="session")
def whole_example() -> dict[str, bytes]:
    return example_files()


@pytest.fixture(scope="session")
def gold(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    folder = tmp_path_factory.mktemp("gold")
    return folder, make_gold(folder)


@pytest.fixture
def submission(gold: tuple[Path, bytes]) -> bytes:
    """Predictions for the benchmark whose gold labels the server has."""
    return gold[1]


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, gold: tuple[Path, bytes]) -> Iterator[Served]:
    """The app, served as in production."""
    with serving(tmp_path_factory.mktemp("server"), {variable("raft_gold"): str(gold[0])}) as running:
        yield running


@pytest.fixture(scope="session")
def url(served: Served) -> str:
    """Address of the app."""
    return served.url


@pytest.fixture(scope="session")
def store(served: Served) -> Iterator[Server]:
    """The running app's store, to put runs into."""
    opened = Server(Settings(home=str(served.log.parent / "home")), workers.threads)
    yield opened
    opened.close()


@pytest.fixture
def open_page(browser: Browser, url: str) -> Iterator[OpenPage]:
    """Open a screen as a new visitor; afterwards no script may have failed or been refused."""
    complaints: list[str] = []
    contexts = []

    def open_one(
        path: str = "/", *, dark: bool = False, width: int = 1440, height: int = 1000, scale: int = 1
    ) -> Page:
        context = browser.new_context(
            color_scheme="dark" if dark else "light",
            viewport={"width": width, "height": height},
            device_scale_factor=scale,
            accept_downloads=True,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda message: complaints.append(message.text) if _matters(message) else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.goto(url + path)
        page.get_by_role("heading", level=1).wait_for()
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert not complaints


def _matters(message: ConsoleMessage) -> bool:
    """Errors, except that Streamlit looks for its own address below a deep link first."""
    looking = re.search(r"/\w+/_stcore/", message.location["url"])
    return message.type == "error" and not looking


@pytest.fixture(scope="session")
def provider() -> Iterator[str]:
    """Address of a provider that believes everybody."""
    with providing(PEOPLE) as address:
        yield address


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, provider: str) -> Iterator[Site]:
    """A team's server: people sign in; a watch has found a change, and there are tools to fetch from."""
    folder = tmp_path_factory.mktemp("team")
    data = folder / "data"
    data.mkdir()
    (data / "votes.csv").write_bytes(votes())

    def fill(store: Server) -> None:
        watch = store.watching.add(ran(store, title="Votes"), every="daily", by=LOCAL_USER)
        (data / "votes.csv").write_bytes(votes(apart=True))
        look(store, watch)
        ProjectStore(store.database).create("Reviews", owner=None)
        for subject, name in (("1", "Ada Analyst"), ("2", "Ada Again")):
            PeopleStore(store.database).sign_in(
                Identity("https://id.example", subject, "ada@lab.example", name)
            )

    settings = {"data_dir": str(data), "source_hosts": "labels.example", "secret_key": "k" * 32}
    with signing_in(folder, provider, fill=fill, **settings) as made:
        yield made


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context()
    made.set_default_timeout(PATIENCE_MS)
    made.route("https://**", lambda route: route.abort())  # the provider's page wants a style sheet
    yield made
    made.close()
