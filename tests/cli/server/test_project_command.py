"""``project``: for whoever has the server's database."""

from __future__ import annotations

from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.access import EVERYONE
from grasp_core.engine.pools import workers
from grasp_core.server import make_server
from grasp_core.settings import Settings
from tests.empty_store import empty_home
from tests.results import make_result


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = empty_home(tmp_path)
    monkeypatch.setenv("GRASP_HOME", folder)
    return folder


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[list[str]]:
    assert cli.main(["project", *arguments]) == 0
    return [line.split("\t") for line in capsys.readouterr().out.splitlines()]


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.main(["project", *arguments]) == 2
    return capsys.readouterr().err


def test_a_project_from_its_beginning_to_its_end(capsys: pytest.CaptureFixture[str], home: str) -> None:
    [[project]] = said(capsys, "create", "Ours", "--owner", "Ann@Lab.example")
    said(capsys, "add", project, "@lab.example")
    said(capsys, "add", project, "annotators", "--kind", "group", "--as", "analyst")
    assert said(capsys, "members", project) == [
        ["address", "ann@lab.example", "owner"],
        ["group", "annotators", "analyst"],
        ["domain", "lab.example", "viewer"],
    ]
    said(capsys, "remove", project, "lab.example")
    assert "none of its members" in refused(capsys, "remove", project, "lab.example")
    assert "needs an owner" in refused(capsys, "remove", project, "ann@lab.example")
    said(capsys, "rename", project, "Theirs")
    said(capsys, "archive", project)
    assert [row[:3] for row in said(capsys, "list")] == [
        [EVERYONE, "Everyone", "open"],
        [project, "Theirs", "archived"],
    ]
    said(capsys, "archive", project, "--undo")
    server = make_server(Settings(home=home), workers.threads)
    run = server.runs.add(make_result(), title="A run", owner="").id
    server.service.close()
    server.database.dispose()
    said(capsys, "move", run, project)
    assert said(capsys, "list")[1][3].startswith("1 run, 0 files")
    assert "would go 1 run, 0 files and 0 links" in refused(capsys, "delete", project)
    said(capsys, "delete", project, "--yes")
    assert [row[0] for row in said(capsys, "list")] == [EVERYONE]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("members", "nowhere"), "no project has the id nowhere"),
        (("delete", EVERYONE, "--yes"), "stays as it is"),
        (("delete", EVERYONE), "stays as it is"),
        (("rename", EVERYONE, "Mine"), "stays as it is"),
        (("add", EVERYONE, "a@b.example"), "stays as it is"),
        (("create", " ", "--owner", "a@b.example"), "1 to 120 characters"),
        (("create", "Ours", "--owner", "ann"), "is not a mail address"),
        (("move", "no-run", EVERYONE), "not there any more"),
    ],
)
def test_what_cannot_be_is_a_sentence(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], sentence: str
) -> None:
    assert sentence in refused(capsys, *arguments)
    assert [row[0] for row in said(capsys, "list")] == [EVERYONE]
