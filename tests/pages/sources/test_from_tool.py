"""The Data page where files come from a tool: fetched, refused, fetched again, the token kept or not."""

import shlex
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.engine.pools import workers
from grasp_core.model.access import User
from grasp_core.model.settings import Settings
from grasp_core.server import server as server_module
from grasp_core.server import watches
from grasp_core.server.server import Server
from pages._ui.data import arriving as from_tool
from pages._ui.helpers import identity as permissions
from pages._ui.helpers.identity import VIEWERS_LOOK
from tests.pages.visits import drop, finished, on, press, seen, shown_run, visit, widget

VOTES = [(f"i{i}", f"r{r}", "YN"[(i * r) % 2]) for i in range(8) for r in range(6)]
RATERS = "rater,gender\n" + "".join(f"r{r},{'MF'[r % 2]}\n" for r in range(6))


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "lab.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE votes (item, rater, label)")
        connection.executemany("INSERT INTO votes VALUES (?, ?, ?)", VOTES)
    connection.close()
    return path


@pytest.fixture
def settings() -> Settings:
    return Settings(secret_key="k" * 32)


@pytest.fixture
def page(server: Server) -> AppTest:
    return visit("data")


def fill(page: AppTest, address: str) -> AppTest:
    widget(page.radio, "Tool").set_value("sql").run()
    widget(page.text_input, "Address of the database").set_value(address)
    return widget(page.text_input, "Table").set_value("votes").run()


def fetch(page: AppTest, address: str) -> AppTest:
    return press(fill(page, address), "Fetch")


def test_a_table_is_fetched_fetched_again_and_analysed_as_before(page, server, database) -> None:
    fetch(page, f"sqlite:///{database}")
    assert not page.error
    assert "**votes.parquet** (Parquet" in seen(page.markdown)
    assert "Fetched from table votes of lab.db" in seen(page.caption)
    (entry,) = server.audit.search(action="upload")[0]
    assert server.files.source(entry.object_id) == f"sql:sqlite:///{database}?table=votes"
    assert widget(page.radio, "Tool").value is None  # nothing that was typed stays
    widget(page.radio, "Tool").set_value("sql").run()
    assert widget(page.text_input, "Address of the database").value == ""
    drop(page, "raters.csv", RATERS.encode())
    press(page, "Bring what is new")
    assert "Nothing is new: votes.parquet is what it was, 48 rows." in seen(page.info)
    page.switch_page("analysis.py").run()
    widget(page.number_input, "Seed").set_value(7).run()
    widget(page.number_input, "Permutations").set_value(200).run()
    press(page, "Run")
    asked = shown_run(finished(page, server), server).spec.analysis
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("INSERT INTO votes VALUES ('i9', 'r1', 'Y')")
    connection.close()
    page.switch_page("data.py").run()
    press(page, "Bring what is new")
    assert "votes.parquet has changed: 49 rows, before 48." in seen(page.info)
    on(press(page, "The same analysis again"), "analysis")
    press(page, "Run")
    again = shown_run(finished(page, server), server)
    assert again.spec.analysis == asked
    assert (asked.seed, again.summary.annotations) == (7, 49)


def test_it_opens_on_a_list_of_tools_and_says_what_brings_what_is_missing(page, monkeypatch) -> None:
    monkeypatch.setattr(watches, "has", lambda *modules: modules == ("sqlalchemy",))
    page.run()
    tools = widget(page.radio, "Tool")
    assert (tools.value, tools.options) == (
        None,
        ["Label Studio", "Argilla", "Hugging Face", "Database (SQL)"],
    )
    assert "Fetch" not in [button.label for button in page.button]
    tools.set_value("argilla").run()
    assert "Argilla needs a package that is not installed here" in seen(page.markdown)
    (brings,) = page.code
    assert brings.value == f"{shlex.quote(sys.executable)} -m pip install 'grasp-core[connectors]'"
    widget(page.radio, "Tool").set_value("sql").run()
    assert not page.code
    assert "Fetch" in [button.label for button in page.button]


REFUSED = {
    "sqlite:////no/such/file.db": "file.db does not exist",
    "postgresql://ann:hidden@127.0.0.1:1/lab": "the address holds a password",
}


def test_a_refusal_is_a_sentence(page: AppTest) -> None:
    for address, sentence in REFUSED.items():
        fetch(page, address)
        assert sentence in seen(page.error)
        assert "hidden" not in seen(page.error)
        assert widget(page.text_input, "Table").value == "votes"  # what was typed can be mended


def test_a_token_is_kept_for_those_who_ask_and_forgotten(page, server, monkeypatch, database) -> None:
    given: list[str] = []
    fetched = server.sources.fetch

    def noted(source, **how):  # the real one, of a file in place of a server
        given.append(how["token"] or server.sources.token(source, owner=how["owner"]))
        return fetched(from_tool.parse(f"sql:sqlite:///{database}?table=votes"), **{**how, "token": ""})

    monkeypatch.setattr(server.sources, "fetch", noted)
    fill(page, "postgresql://ann@db.internal/lab")
    widget(page.text_input, "Password").set_value("tok-hidden")
    widget(page.checkbox, "Keep it, encrypted, for the next time").check()
    press(page, "Fetch")
    assert not page.error
    assert given == ["tok-hidden"]
    assert "tok-hidden" not in [box.value for box in page.text_input]
    fetch(page, "postgresql://ann@db.internal/lab")
    assert given == ["tok-hidden"] * 2
    fill(page, "postgresql://ann@db.internal/lab")
    assert "Yours for postgresql://ann@db.internal/lab is kept since" in seen(page.caption)
    press(page, "Forget the kept one")
    source = from_tool.parse("sql:postgresql://ann@db.internal/lab?table=votes")
    assert server.sources.kept(source, owner="") is None


def test_whoever_presses_all_the_same_is_refused(monkeypatch, page, database) -> None:
    monkeypatch.setattr(permissions, "current_user", lambda: User("vic", "Vic", "viewer"))
    monkeypatch.setattr(from_tool, "may_run", lambda: True)
    fetch(page, f"sqlite:///{database}")
    assert VIEWERS_LOOK in seen(page.error)


def test_a_server_that_names_no_host_offers_nothing(monkeypatch, tmp_path, server) -> None:
    settings = replace(server.settings, allow_anonymous=True, home=str(tmp_path / "other"))
    other = Server(settings, workers.threads)
    monkeypatch.setattr(server_module, "shared", lambda: other)
    page = visit("data")
    assert "From a tool" not in [expander.label for expander in page.expander]
    other.close()
