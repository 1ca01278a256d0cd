"""Label Studio: a project with a single choice, a multiple choice and a rating, exported in every form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from exports.answers import PEOPLE, Answer, Ledger, made_up, texts, votes
from exports.servers import HOST, PASSWORD, Client, environment, free_port, python_of, running, until
from grasp_core.model.extras import has
from grasp_core.reading.connectors.fetching import fetch
from grasp_core.reading.connectors.source import TOOLS, Hosts, parse

TOOL = "label-studio"
_GOLD = "gus"
"""Somebody who gives nothing but ground truth."""
_CONFIG = """<View><Text name="text" value="$text"/>
<Choices name="verdict" toName="text" choice="single" required="true">
<Choice value="No"/><Choice value="Unsure"/><Choice value="Yes"/></Choices>
<Choices name="kinds" toName="text" choice="multiple">
<Choice value="Insult"/><Choice value="Slur, other"/><Choice value="Threat"/></Choices>
<Rating name="stars" toName="text"/><TextArea name="why" toName="text"/></View>"""
_STARRED = 0.1


def exported(folder: Path, ledger: Ledger, seed: int) -> None:
    """Annotate and export a project, and hold each form against what was sent."""
    port = free_port()
    env = environment(
        folder,
        LABEL_STUDIO_BASE_DATA_DIR=str(folder / "data"),
        COLLECT_ANALYTICS="false",
        LATEST_VERSION_CHECK="false",
    )
    program = python_of(TOOL).with_name("label-studio")
    start = [program, "start", "--no-browser", "--internal-host", HOST, "--port", str(port)]
    with running(start, folder, env):
        Client(port).wait("/user/signup/")
        people = {name: _signed_up(port, name) for name in (*PEOPLE, _GOLD)}
        owner = people[PEOPLE[0]]
        project = owner.post("/api/projects", {"title": "Toxicity", "label_config": _CONFIG})["id"]
        owner.post(f"/api/projects/{project}/import", [{"text": text, "topic": "news"} for text in texts()])
        tasks = {
            task["data"]["text"]: task["id"]
            for task in owner.json(f"/api/projects/{project}/tasks?page_size=1000")
        }
        sent = made_up(seed)
        for number, answer in enumerate(sent):
            _annotate(people[answer.rater], tasks, answer, starred=number % 7 == 0)
        for item in range(3):
            _annotate(people[_GOLD], tasks, Answer(item, _GOLD, "Yes", (), None), starred=True)
        _others(people[PEOPLE[1]], tasks)
        _hold(owner, people, project, sent, ledger)


def _signed_up(port: int, name: str) -> Client:
    client = Client(port)
    client.get("/user/signup/")
    client.form(
        "/user/signup/",
        {"email": f"{name}@example.org", "password": PASSWORD, "csrfmiddlewaretoken": client.token},
    )
    return client


def _annotate(client: Client, tasks: Mapping[str, int], answer: Answer, *, starred: bool) -> None:
    given: list[dict[str, Any]] = [_result("verdict", "choices", [answer.label])]
    given += [_result("kinds", "choices", list(answer.kinds))] if answer.kinds else []
    given += [_result("stars", "rating", answer.stars)] if answer.stars else []
    given += [_result("why", "textarea", ["because"], "text")] if answer.stars == 1 else []
    task = tasks[texts()[answer.item]]
    made = client.post(f"/api/tasks/{task}/annotations/", {"result": given, "lead_time": 4.5})
    if starred:
        client.post(f"/api/annotations/{made['id']}/", {"ground_truth": True}, "PATCH")


def _result(name: str, kind: str, value: Any, key: str | None = None) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": kind, "value": {key or kind: value}}


def _others(client: Client, tasks: Mapping[str, int]) -> None:
    """What is no annotation: a skipped task, a prediction, a draft."""
    first, *_ = tasks.values()
    result = [_result("verdict", "choices", ["Yes"])]
    client.post(f"/api/tasks/{first}/annotations/?was_cancelled=1", {"result": result, "was_cancelled": True})
    client.post("/api/predictions/", {"task": first, "result": result, "model_version": "m"})
    client.post(f"/api/tasks/{first}/drafts", {"result": result, "lead_time": 1})


def _hold(
    owner: Client, people: Mapping[str, Client], project: int, sent: list[Answer], ledger: Ledger
) -> None:
    ids = {name: str(person.json("/api/current-user/whoami")["id"]) for name, person in people.items()}
    gold = [Answer(item, _GOLD, "Yes", (), None) for item in range(3)]
    for form in ("JSON", "JSON_MIN", "CSV", "TSV"):
        content = owner.get(f"/api/projects/{project}/export?exportType={form}")
        # Only JSON says which annotations are ground truth.
        ledger.hold(
            f"{TOOL}, {form}",
            content,
            f"export.{form.lower()}",
            votes([*sent, *(gold if form != "JSON" else [])], ids),
        )
    if has(TOOLS["label-studio"].client):  # after make test-connectors
        token = owner.post("/api/token/", {})["token"]
        source = parse(f"label-studio:{owner.root}/projects/{project}")
        first, second = (fetch(source, token, hosts=Hosts(any=True)).content for _ in range(2))
        ledger.hold(f"{TOOL}, fetched", first, "fetched.json", votes(sent, ids))
        again = second if first == second else b"other bytes"
        ledger.hold(f"{TOOL}, fetched again", again, "again.json", votes(sent, ids))
    for mails in (False, True):
        options = {"serialization_options": {"annotations__completed_by": {"only_id": not mails}}}
        snapshot = owner.post(f"/api/projects/{project}/exports/", {"title": f"mails {mails}", **options})[
            "id"
        ]
        at = f"/api/projects/{project}/exports/{snapshot}"
        until(lambda at=at: owner.json(at)["status"] == "completed", "a snapshot")
        content = owner.get(f"{at}/download?exportType=JSON")
        names = {name: f"{name}@example.org" for name in people} if mails else ids
        ledger.hold(
            f"{TOOL}, snapshot{' with addresses' * mails}", content, "snapshot.json", votes(sent, names)
        )
