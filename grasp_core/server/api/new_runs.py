"""Runs asked for, and what one would read: from a spec and files, with the refusals of the page."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from grasp_core.analysis.power import estimate, power_tasks
from grasp_core.engine.request.analysis import say_batches
from grasp_core.engine.request.reading import Reading
from grasp_core.engine.run import checked_groups
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.json_values import to_json
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.table.table import Table
from grasp_core.report.contents import run_title
from grasp_core.report.quality import quality_report
from grasp_core.server.api import forms
from grasp_core.server.api._admission import Asking, Caller
from grasp_core.server.api._answers import Done, Found, IdempotencyKey, at_once_or_later, once
from grasp_core.server.api._reading import Bringing, Json, Recognised, Sent, Told, ask, hints, recognised
from grasp_core.server.api.forms import Checked, NewCheck, NewReport, NewRun, ProblemListed, StartedRun, Work
from grasp_core.server.problem import listed

router = APIRouter(tags=["Runs"])
_LATER: dict[int | str, dict[str, Any]] = {
    202: {
        "model": Work,
        "description": "The files are large, or fetched first: `Location` says how far it is",
    }
}


@router.post(
    "/runs",
    status_code=HTTPStatus.CREATED,
    response_model=StartedRun,
    responses={
        200: {"model": StartedRun, "description": "You asked the same data and spec before"},
        **_LATER,
    },
)
def start_run(new: NewRun, asking: Asking, idempotency_key: IdempotencyKey = None) -> Response:
    """Read the files, check data and spec as the page does, and start the run.

    The same data and spec give the same run to whoever asks them again. Where somebody else in the project
    asked them, nothing is computed again, but the run is your own.
    """
    return _asked(asking, idempotency_key, "POST /runs", new, _start)


@router.post("/validate", response_model=Checked, responses=_LATER)
def validate(new: NewCheck, asking: Asking, idempotency_key: IdempotencyKey = None) -> Response:
    """Tell what a run of these files would read, leave out and compare, and what it asks; nothing is run.

    What has to be mended stands in `problems`, and what has to be said in `questions`.
    """
    return _asked(asking, idempotency_key, "POST /validate", new, _validated, lenient=True)


@router.post("/quality", response_model=dict[str, Any], responses=_LATER)
def report_quality(new: NewReport, asking: Asking, idempotency_key: IdempotencyKey = None) -> Response:
    """Report what data can and cannot show, before any run, as `grasp quality` does; no rater is named."""
    return _asked(asking, idempotency_key, "POST /quality", new, _reported, slow=new.power)


def _asked(
    asking: Caller,
    key: str | None,
    action: str,
    new: Any,
    work: Callable[[Bringing, Any, Sent, Told], Done],
    *,
    lenient: bool = False,
    slow: bool = False,
) -> Response:
    """Do once what is asked of files; unless lenient, refuse before what cannot be a spec."""
    bringing = Bringing(asking, asking.runner(new.project), new.project, new.files)

    def begin() -> Done:
        asking.server.rates.run(asking.asker)
        sent = Sent(new.spec)
        wrong = () if lenient else sent.wrong
        bringing.check_there(wrong)
        if wrong:
            raise SpecError(wrong[0], further=wrong[1:])
        if isinstance(new, NewRun) and new.webhook is not None:
            asking.server.webhooks.check(new.webhook)
        return at_once_or_later(bringing, lambda told: work(bringing, new, sent, told), slow=slow)

    return once(asking, key, action, new.model_dump_json(), begin)


def _start(bringing: Bringing, new: NewRun, sent: Sent, told: Told) -> tuple[HTTPStatus, StartedRun]:
    server, user, started = bringing.asking.server, bringing.user, time.perf_counter()
    tables = bringing.tables(sent.data, told)
    found, dataset = _formed(bringing, sent, tables, new.recommended, told)
    spec = found.spec
    grouping = checked_groups(dataset, spec)
    helpful = hints(sent, spec, tables, dataset, grouping)
    record, known = server.service.submit(
        dataset,
        spec,
        title=new.title or run_title(spec),
        reach=user.reach(new.project),
        owner=user.id,
        load_s=time.perf_counter() - started,
    )
    server.audit.record(user.id, "run", "run", record.id, {"known": known})
    if new.webhook is not None:
        server.webhooks.register(record.id, new.webhook, owner=user.id)
    answer = StartedRun.of(record, notes=found.notes, hints=helpful)
    return HTTPStatus.OK if known else HTTPStatus.CREATED, answer


def _formed(
    bringing: Bringing, sent: Sent, tables: dict[str, Table], recommended: bool | None, told: Told
) -> tuple[Recognised, Dataset]:
    told("Looking at what the files hold")
    found = recognised(sent, tables, recommended)
    dataset = bringing.formed(found.spec, tables, told)
    return found.with_groups_of(dataset, sent), dataset


def _validated(bringing: Bringing, new: NewCheck, sent: Sent, told: Told) -> tuple[HTTPStatus, Checked]:
    lists: dict[str, list[Any]] = {name: [] for name in ("groups", "notes", "hints", "questions")}
    answer = Checked(runs=False, spec=None, data=None, problems=_of_spec(sent.wrong), **lists)
    tables = bringing.tables(sent.data if isinstance(sent.data, dict) else {}, told)
    if answer.problems:
        return HTTPStatus.OK, answer
    try:
        told("Looking at what the files hold")
        found = recognised(sent, tables, new.recommended)
        answer.notes = found.notes
        answer.questions = [
            forms.Question(field=one.field, text=ask(one), candidates=list(one.candidates))
            for one in found.questions
        ]
        if found.known is not None:
            dataset = bringing.formed(found.known, tables, told)
            found = found.with_groups_of(dataset, sent)
            answer.notes, answer.spec = found.notes, found.spec.to_dict()
            answer.data = to_json(dataset.summary)
            grouping = checked_groups(dataset, found.spec)
            answer.groups = [
                forms.GroupFormed(group=forms.by_axis(one), raters=int(count))
                for one, count in zip(grouping.groups, grouping.n_raters, strict=True)
            ]
            answer.hints = hints(sent, found.spec, tables, dataset, grouping)
    except SpecError as error:
        answer.problems = _of_spec(error.sentences)
    except DataError as error:
        answer.problems = [ProblemListed(**listed(one)) for one in error.problems]
    answer.runs = not answer.questions and not answer.problems
    return HTTPStatus.OK, answer


def _of_spec(sentences: Sequence[str]) -> list[ProblemListed]:
    return [ProblemListed(code="spec", text=text, place="spec") for text in sentences]


def _reported(bringing: Bringing, new: NewReport, sent: Sent, told: Told) -> tuple[HTTPStatus, Found]:
    tables = bringing.tables(sent.data, told)
    found, dataset = _formed(bringing, sent, tables, new.recommended, told)
    analysis = found.spec.analysis
    if new.power and not analysis.axes:
        raise SpecError("power needs groups: name an axis", field="axes")
    power = []
    if new.power:
        tasks = power_tasks(dataset.annotations, dataset.raters, analysis.axes)
        for number, task in enumerate(tasks, 1):
            told(f"Simulating group {number} of {len(tasks)}")
            power.append(estimate(task))
    told("Looking at raters and groups")
    report = quality_report(dataset, names=analysis.tested or None, power=power)
    voice = Json()
    read = Reading(tables["annotations"], tables.get("raters"), found.spec.data)
    say_batches(read, tuple(dataset.raters.axes), dataset, report.warnings, voice)
    helpful = [*hints(sent, found.spec, tables, dataset), *voice.notes]
    return HTTPStatus.OK, Found({**report.to_dict(), "notes": found.notes, "hints": helpful})
