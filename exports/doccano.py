"""doccano: a project with one label per text and one with several, each annotator's own, in every format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from exports.answers import KINDS, LABELS, PEOPLE, Answer, Ledger, Vote, made_up, texts, votes
from exports.servers import HOST, PASSWORD, Client, environment, free_port, python_of, run, running, until

TOOL = "doccano"
_ADMIN = "admin"


def exported(folder: Path, ledger: Ledger, seed: int) -> None:
    """Annotate and export two projects, and hold each format against what was sent."""
    port, python = free_port(), python_of(TOOL)
    backend = next((python.parent.parent / "lib").glob("python*/site-packages/backend"))
    home = folder / "home"
    home.mkdir()
    env = environment(
        folder,
        DOCCANO_HOME=str(home),
        DATABASE_URL=f"sqlite:///{home}/db.sqlite3",
        MEDIA_ROOT=str(home / "media"),
        DJANGO_SETTINGS_MODULE="config.settings.production",
        STANDALONE="True",
        PYTHONPATH=str(backend),
    )
    program = python.with_name("doccano")
    run([program, "init"], folder, env)
    run([program, "createuser", "--username", _ADMIN, "--password", PASSWORD], folder, env)
    # Its own command listens on every address.
    serve = [python, "-m", "gunicorn", "--bind", f"{HOST}:{port}", "--chdir", backend, "config.wsgi"]
    with ExitStack() as programs:
        programs.enter_context(running(serve, folder, env))
        programs.enter_context(running([program, "task", "--concurrency", "1"], folder, env))
        Client(port).wait("/admin/login/")
        admin = _signed_in(port, _ADMIN)
        for name in PEOPLE:
            account = {"username": name, "password1": PASSWORD, "password2": PASSWORD}
            admin.post("/v1/users/create", {**account, "is_superuser": False, "is_staff": False})
        people = {name: _signed_in(port, name) for name in PEOPLE}
        for single in (True, False):
            sent = made_up(seed)
            project = _annotated(admin, people, sent, single=single)
            wanted = votes(sent) if single else _kinds(sent)
            for form in [offered["name"] for offered in admin.json(f"{project}/download-format")]:
                what = f"{TOOL}, {form}, {'one label' if single else 'several labels'}"
                ledger.hold(what, _export(admin, project, form), "export.zip", wanted)


def _kinds(answers: list[Answer]) -> Counter[Vote]:
    """The votes of the multiple choice; no choice is no annotation."""
    shown = texts()
    return Counter((shown[one.item], one.rater, " + ".join(one.kinds)) for one in answers if one.kinds)


def _signed_in(port: int, name: str) -> Client:
    client = Client(port)
    key = client.post("/v1/auth/login/", {"username": name, "password": PASSWORD})["key"]
    client.headers["Authorization"] = f"Token {key}"
    return client


def _annotated(admin: Client, people: Mapping[str, Client], sent: list[Answer], *, single: bool) -> str:
    """The address of a project in which everybody has answered."""
    made = admin.post(
        "/v1/projects",
        {
            "name": f"Toxicity, single {single}",
            "description": "made up",
            "guideline": "",
            "project_type": "DocumentClassification",
            "resourcetype": "TextClassificationProject",
            "single_class_classification": single,
            "collaborative_annotation": False,
            "random_order": False,
            "tags": [],
        },
    )
    project = f"/v1/projects/{made['id']}"
    roles = {role["name"]: role["id"] for role in admin.json("/v1/roles")}
    for user in admin.json("/v1/users"):
        if user["username"] in people:
            admin.post(f"{project}/members", {"user": user["id"], "role": roles["annotator"]})
    labels = {text: _label(admin, project, text)["id"] for text in (LABELS if single else KINDS)}
    examples = [admin.post(f"{project}/examples", {"text": text, "meta": {}})["id"] for text in texts()]
    for answer in sent:
        for chosen in [answer.label] if single else answer.kinds:
            where = f"{project}/examples/{examples[answer.item]}/categories"
            people[answer.rater].post(where, {"label": labels[chosen]})
    return project


def _label(admin: Client, project: str, text: str) -> Any:
    style = {"background_color": "#209cee", "text_color": "#ffffff"}
    return admin.post(
        f"{project}/category-types", {"text": text, "prefix_key": None, "suffix_key": None, **style}
    )


def _export(admin: Client, project: str, form: str) -> bytes:
    """The archive that doccano writes in the background."""
    task = admin.post(f"{project}/download", {"format": form, "exportApproved": False})["task_id"]
    until(lambda: bool(admin.json(f"/v1/tasks/status/{task}")["ready"]), f"export as {form}")
    return admin.get(f"{project}/download?taskId={task}")
