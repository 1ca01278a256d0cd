"""Predictions handed in by the API: checked, scored once, taken off."""

from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from grasp_core.benchmark.leaderboard import read_leaderboard
from grasp_core.server.server import Server
from tests.server.api.asking import ended, problem, refused
from tests.server.conftest import ANN, VIEWER
from tests.zips import zipped

TASK = '{"classes": ["calm", "angry"], "fields": ["Message"]}'
GOLD = "Message,ID,Label\nthank you,50,calm\nno,51,angry\n"


@pytest.fixture
def given(tmp_path: Path) -> dict[str, str]:
    for name, content in {
        "tasks/mood/task.json": TASK,
        "tasks/mood/test_unlabeled.csv": "Message,ID\nthank you,50\nno,51\n",
        "gold/mood/test.csv": GOLD,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, "utf-8")
    return {"raft_gold": str(tmp_path / "gold"), "raft_tasks": str(tmp_path / "tasks")}


def archive(labels: str, probabilities: str = "") -> bytes:
    files = {"data/mood/predictions.csv": f"ID,Label\n{labels}"}
    if probabilities:
        files["data/mood/probabilities.csv"] = f"ID,calm,angry\n{probabilities}"
    return zipped(files)


def sent(visitor: TestClient, content: bytes, name: str = "mine") -> Any:
    return visitor.post("/api/v1/submissions", params={"name": name}, content=content)


def submit(visitor: TestClient, content: bytes, name: str = "mine") -> Any:
    """What became of predictions: the submission, or the problem."""
    answer = sent(visitor, content, name)
    if answer.status_code == HTTPStatus.OK:
        return answer.json()
    told = ended(visitor, answer)
    return told["submission"] or told["problem"]


def test_predictions_are_scored_once_and_taken_off(ann: TestClient, client, server) -> None:
    answer = sent(ann, archive("50,calm\n51,angry\n"))
    assert answer.headers["Location"] == f"/api/v1/work/{answer.json()['id']}"
    made = ended(ann, answer)["submission"]
    assert (made["name"], made["owner"], made["scores"]["overall"]) == ("mine", ANN.id, 1.0)
    assert submit(ann, archive("50,calm\n51,angry\n"))["id"] == made["id"]
    assert [one["id"] for one in ann.get("/api/v1/submissions").json()["submissions"]] == [made["id"]]
    viewer = client(user=VIEWER)
    problem(viewer.delete(f"/api/v1/submissions/{made['id']}"), HTTPStatus.FORBIDDEN)
    problem(sent(viewer, archive("50,calm\n")), HTTPStatus.FORBIDDEN)
    assert ann.delete(f"/api/v1/submissions/{made['id']}").status_code == HTTPStatus.NO_CONTENT
    problem(ann.delete(f"/api/v1/submissions/{made['id']}"), HTTPStatus.NOT_FOUND)


def test_probabilities_have_calibration_told_and_count_as_further_predictions(ann, server) -> None:
    labels, likely = "50,calm\n51,angry\n", "50,0.8,0.2\n51,0.4,0.6\n"
    made = submit(ann, archive(labels, likely))
    figures = made["scores"]["tasks"]["mood"]["calibration"]
    assert figures == {"brier": 0.2, "log_loss": 0.367, "ece": 0.3}  # (2 * .04 + 2 * .16) / 2, by hand
    assert submit(ann, archive(labels, "50,1,0\n51,0,1\n"))["scores"] == made["scores"]
    left = server.submissions.left("mood", owner=ANN.id)
    assert left == server.settings.raft_scorings - 1
    ann.delete(f"/api/v1/submissions/{made['id']}")
    submit(ann, archive(labels, "50,1,0\n51,0,1\n"))
    assert server.submissions.left("mood", owner=ANN.id) == left - 1
    for wrong, told in (("50,1,0\n", "has no row for 1 ID: '51'"), ("50,1,1\n51,0,1\n", "must add up to 1")):
        assert told in submit(ann, archive("50,angry\n51,angry\n", wrong))["detail"]
    assert server.submissions.left("mood", owner=ANN.id) == left - 1


@pytest.mark.parametrize(
    "content",
    [b"no archive", archive("50,furious\n51,calm\n"), archive(""), zipped({"holiday/beach.txt": "sun"})],
)
def test_what_cannot_be_scored_is_refused(ann: TestClient, server: Server, content: bytes) -> None:
    wrong = refused(sent(ann, content))
    assert wrong["detail"].endswith(".")
    assert server.submissions.all() == []


def test_without_gold_labels_nothing_is_scored(ann: TestClient, server: Server) -> None:
    object.__setattr__(server.settings, "raft_gold", "")
    assert "no gold labels" in problem(sent(ann, archive("50,calm\n")), HTTPStatus.CONFLICT)


def test_tasks_and_the_leaderboard_are_told(ann: TestClient, server: Server) -> None:
    (task,) = ann.get("/api/v1/tasks").json()["tasks"]
    assert (task["name"], task["classes"], task["scored"]) == ("mood", ["calm", "angry"], True)
    made = submit(ann, archive("50,calm\n51,angry\n"))
    assert submit(ann, archive("50,calm\n51,angry\n"), "renamed")["id"] == made["id"]
    classes = made["scores"]["tasks"]["mood"]["classes"]
    assert [(one["class"], one["recall"]) for one in classes] == [("calm", 1.0), ("angry", 1.0)]
    board = ann.get("/api/v1/leaderboard").json()
    entries, tasks = read_leaderboard(board)
    assert (tasks, [entry.name for entry in entries]) == (["mood"], ["renamed"])
    assert entries[0].ci95["overall"] == (1.0, 1.0)
    assert ANN.id not in str(board)


def test_a_server_without_tasks_of_its_own_has_published_systems(ann: TestClient, server: Server) -> None:
    object.__setattr__(server.settings, "raft_gold", "")
    object.__setattr__(server.settings, "raft_tasks", "")
    told = ann.get("/api/v1/tasks").json()["tasks"]
    assert len(told) == 11
    assert not any(task["scored"] for task in told)
    assert all(task["instructions"] for task in told)
    board = ann.get("/api/v1/leaderboard").json()
    assert [system["system"] for system in board["systems"]][:2] == ["T-Few (T0 11B)", "Human (crowd)"]
