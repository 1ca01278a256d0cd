"""The Data page where the server can read files itself."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.engine.pools import workers
from grasp_core.model.access import User
from grasp_core.model.settings import Settings
from grasp_core.reading.archives import containers
from grasp_core.server import server as server_module
from grasp_core.server.server import Server
from pages._ui.data import arriving as server_files
from pages._ui.helpers import identity as permissions
from tests.labels import CONTINUE
from tests.pages.visits import figures, finished, press, seen, shown_run, visit, widget
from tests.reading.sources.serving import Site, site

PICKER = "File on the server"
UNDERSTOOD = ["35", "104", "3,640", "104"]


@pytest.fixture
def web(example: dict[str, bytes]) -> Iterator[Site]:
    with site(**{name.removesuffix(".csv"): content for name, content in example.items()}) as served:
        yield served


@pytest.fixture
def root(tmp_path: Path, example: dict[str, bytes]) -> Path:
    made = tmp_path / "mounted"
    (made / "may").mkdir(parents=True)
    for name, content in example.items():
        (made / "may" / name).write_bytes(content)
        os.utime(made / "may" / name, (0, 1_777_800_000))
    return made


@pytest.fixture
def settings(root: Path, web: Site) -> Settings:
    return Settings(data_dir=str(root), data_urls=(f"{web.url}/data/",))


@pytest.fixture
def page(server: Server) -> AppTest:
    return visit("data")


def take(page: AppTest, path: str) -> AppTest:
    page.session_state["overview"] = True
    widget(page.selectbox, PICKER).set_value(path).run()
    return press(page, "Take this file")


def name(page: AppTest, url: str) -> AppTest:
    page.session_state["overview"] = True
    widget(page.text_input, "Address of the file").set_value(url).run()
    return press(page, "Read this address")


def test_files_of_the_folder_are_used_as_uploads_are(page: AppTest, server: Server) -> None:
    options = widget(page.selectbox, PICKER).options
    assert [option.split(" (")[0] for option in options] == ["may/annotations.csv", "may/raters.csv"]
    assert options[0].endswith("kB, 3 May 2026)")
    take(page, "may/annotations.csv")
    assert widget(page.selectbox, PICKER).value is None  # a fresh picker
    take(page, "may/raters.csv")
    assert not page.error
    assert figures(page) == UNDERSTOOD
    assert server.files.used("") == 0
    press(page, CONTINUE)
    page.switch_page("analysis.py").run()
    widget(page.number_input, "Permutations").set_value(100).run()
    press(page, "Run")
    finished(page, server)
    run = shown_run(page, server)
    assert run.state == "done"
    assert [server.files.location(sha256) for _, sha256 in server.runs.files_of(run.id)] == [
        "data:may/annotations.csv",
        "data:may/raters.csv",
    ]


def test_searching(page: AppTest) -> None:
    page.text_input[0].set_value("RATERS").run()
    (option,) = widget(page.selectbox, PICKER).options
    assert option.startswith("may/raters.csv")
    page.text_input[0].set_value("nothing").run()
    assert "Nothing is called so" in seen(page.caption)


def test_an_address(page: AppTest, server: Server, web: Site) -> None:
    assert f"The server may read what is below {web.url}/data" in seen(page.caption)
    name(page, f"{web.url}/data/annotations.csv")
    name(page, f" {web.url}/data/raters.csv ")
    assert not page.error
    assert figures(page) == UNDERSTOOD
    assert server.files.used("") == 0


REFUSED = {
    "{web}/other/annotations.csv": "not at an address that this server may read",
    "{web}/data/moved.csv": "is redirected to an address that this server may not read",
    "data:../../etc/passwd": "not the path of a file in this server's folder",
    "nonsense": "is not a whole address",
}


def test_a_refusal_is_a_sentence_and_what_was_loaded_stays(page: AppTest, web: Site) -> None:
    web.redirects["/data/moved.csv"] = "http://127.0.0.1:9/annotations.csv"
    take(page, "may/annotations.csv")
    take(page, "may/raters.csv")
    for url, sentence in REFUSED.items():
        name(page, url.format(web=web.url))
        assert sentence in seen(page.error)
        assert "annotations.csv is still in use." in seen(page.error)
        assert figures(page) == UNDERSTOOD
    take(page, "may/annotations.csv")
    assert not page.error


def test_files_that_cannot_be_used(monkeypatch, page: AppTest, root: Path) -> None:
    (root / "may" / "annotations.csv").write_bytes(b"a,b\n1,2\n")
    take(page, "may/annotations.csv")
    assert "annotations.csv has only 2 columns" in seen(page.error)
    (root / "may" / "annotations.csv").unlink()
    take(page, "may/annotations.csv")
    assert "annotations.csv cannot be read in this server's folder: No such file" in seen(page.error)
    monkeypatch.setattr(containers, "MAX_BYTES", 10)
    take(page, "may/raters.csv")
    assert "raters.csv is larger than" in seen(page.error)
    assert not page.metric


def test_whoever_presses_all_the_same_is_refused(monkeypatch, page: AppTest, server: Server) -> None:
    viewer = User("vic@lab.example", "Vic", "viewer")
    monkeypatch.setattr(permissions, "current_user", lambda: viewer)
    monkeypatch.setattr(server_files, "may_run", lambda: True)  # as it was when the page was drawn
    take(page, "may/annotations.csv")
    assert "Your role on this server is viewer" in seen(page.error)
    assert not page.metric


def test_without_places_nothing_is_offered(monkeypatch, tmp_path: Path, server: Server) -> None:
    plain = Server(
        replace(server.settings, data_dir="", data_urls=(), home=str(tmp_path / "p")), workers.threads
    )
    monkeypatch.setattr(server_module, "shared", lambda: plain)
    page = visit("data")
    assert "From this server" not in [expander.label for expander in page.expander]
    plain.close()
