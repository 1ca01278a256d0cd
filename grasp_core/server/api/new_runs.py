"""New runs, previews of them and reports on data: files are read as a spec says, or as recognised."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from grasp_core.engine import run_request as request
from grasp_core.engine.reading_request import (
    AdviceAnswer,
    Reading,
    mended,
)
from grasp_core.engine.request_fields import for_requests
from grasp_core.engine.run import checked_groups
from grasp_core.model.access import User
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.json_values import to_json
from grasp_core.model.spec import RunSpec
from grasp_core.model.text import printable
from grasp_core.permutation.draw import exchange_of
from grasp_core.reading.connectors.source import parse
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.table.table import Table
from grasp_core.report.contents import run_title
from grasp_core.report.quality import findings, power_of, quality_report
from grasp_core.server.api import forms
from grasp_core.server.api._admission import Asking, Caller
from grasp_core.server.api._answers import Done, IdempotencyKey, JsonObject, ShowStep, later, once
from grasp_core.server.api.forms import Checked, NewCheck, NewReport, NewRun, ProblemListed, StartedRun, Work
from grasp_core.server.api.sent_specs import Json, Recognised, SentSpec, ask, hints, recognised
from grasp_core.server.problem import ProblemError, listed

LARGE = 16 * 2**20
"""Most bytes that are read within a request, which takes about 2 s."""
_Brought = forms.File | forms.Place | forms.Fetch
_PARTS = {"annotations": "part", "raters": "raters_part", "items": "items_part"}


@dataclass(frozen=True, slots=True)
class Bringing:
    """The files of a request, the user who brings them, and the project."""

    asking: Caller
    user: User
    project: str
    files: forms.Files

    @property
    def named(self) -> dict[str, _Brought]:
        """The files of the request, by kind."""
        given = {kind: getattr(self.files, kind) for kind in _PARTS}
        return {kind: file for kind, file in given.items() if file is not None}

    @property
    def takes_long(self) -> bool:
        """True if the files are fetched first, or are large."""
        given = list(self.named.values())
        if not all(isinstance(one, forms.File) for one in given):
            return True
        sizes = self._sizes()
        return sum(sizes.get(one.sha256, 0) for one in given if isinstance(one, forms.File)) > LARGE

    def check_there(self, wrong: tuple[str, ...] = ()) -> None:
        """Raise a ProblemError if files are not on the server; it lists what is `wrong` with the spec too."""
        sizes = self._sizes()
        given = [*self.named.items(), *(("models", one) for one in self.files.models)]
        lacking = [
            (kind, file.name)
            for kind, file in given
            if isinstance(file, forms.File) and file.sha256 not in sizes
        ]
        told = [
            ("not-found", f"{name} is not on this server; upload it first.", kind) for kind, name in lacking
        ]
        if told:
            every = [*told, *(("spec", for_requests(text), "spec") for text in wrong)]
            found = [{"code": code, "text": text, "place": place} for code, text, place in every]
            raise ProblemError("not-found", told[0][1], more={"problems": found})

    def tables(self, data: Mapping[str, Any], told: ShowStep) -> dict[str, Table]:
        """Read the files as the spec's `data` says; raises DataError if one cannot be fetched or read."""
        found = {}
        for kind, file in self.named.items():
            member = data.get(_PARTS[kind])
            found[kind] = self._table(kind, file, member if isinstance(member, str) else None, told)
        return found

    def formed(self, spec: RunSpec, tables: Mapping[str, Table], told: ShowStep) -> Dataset:
        """Form the data set of the tables and models' labels; raises DataError if they do not fit."""
        told("Forming the data")
        models = [(one.name, one.sha256) for one in self.files.models]
        reach = self.user.reach(self.project)
        return self.asking.server.service.inputs.formed(spec, tables, models, reach=reach)

    def _table(self, kind: str, file: _Brought, member: str | None, told: ShowStep) -> Table:
        server, reach = self.asking.server, self.user.reach(self.project)
        inputs = server.service.inputs
        if isinstance(file, forms.Place):
            told(f"Reading {kind} where they are")
            return inputs.refer(file.location, member, owner=self.user.id, reach=reach)
        if isinstance(file, forms.Fetch):
            source = parse(file.source)
            told(f"Fetching {kind}")
            snapshot = server.sources.fetch(
                source,
                owner=self.user.id,
                token=file.token or "",
                told=lambda words: told(f"Fetching {kind}: {words}"),
            )
            files = server.seen(reach).files
            sha256 = server.keep_file(files, snapshot.content, snapshot.name, self.user.id, source)
            file = forms.File(sha256=sha256, name=snapshot.name)
        told(f"Reading {kind}")
        return inputs.table(file.name, file.sha256, member, reach=reach)

    def _sizes(self) -> dict[str, int]:
        named = [*self.named.values(), *self.files.models]
        wanted = {one.sha256 for one in named if isinstance(one, forms.File)}
        return self.asking.server.seen(self.user.reach(self.project)).files.sizes(wanted)


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

    If you send the same data and spec again, you get the same run. If somebody else in the project sent them,
    nothing is computed again, but the run is your own.
    """
    return _asked(asking, idempotency_key, "POST /runs", new, _start)


@router.post("/validate", response_model=Checked, responses=_LATER)
def validate(new: NewCheck, asking: Asking, idempotency_key: IdempotencyKey = None) -> Response:
    """Report what a run of these files would read, leave out and compare, and what it asks; nothing is run.

    The answer's `problems` have to be mended, and its `questions` answered.
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
    work: Callable[[Bringing, Any, SentSpec, ShowStep], Done],
    *,
    lenient: bool = False,
    slow: bool = False,
) -> Response:
    """Answer a request about files once per key; unless lenient, first refuse an invalid spec."""
    bringing = Bringing(asking, asking.runner(new.project), new.project, new.files)

    def begin() -> Done:
        asking.server.rates.run(asking.asker)
        sent = SentSpec(new.spec)
        bringing.check_there(wrong := sent.wrong)
        if wrong and not lenient:
            raise SpecError(wrong[0], further=wrong[1:])
        if isinstance(new, NewRun) and new.webhook is not None:
            asking.server.webhooks.check(new.webhook)
        if slow or bringing.takes_long:
            return later(asking, bringing.user, lambda told: work(bringing, new, sent, told))
        return work(bringing, new, sent, lambda words: None)

    return once(asking, key, action, new.model_dump_json(), begin)


def _start(bringing: Bringing, new: NewRun, sent: SentSpec, told: ShowStep) -> tuple[HTTPStatus, StartedRun]:
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
    bringing: Bringing, sent: SentSpec, tables: dict[str, Table], recommended: bool | None, told: ShowStep
) -> tuple[Recognised, Dataset]:
    told("Looking at what the files hold")
    found = recognised(sent, tables, recommended)
    return _read(bringing, found, sent, tables, recommended, told)


def _read(
    bringing: Bringing,
    found: Recognised,
    sent: SentSpec,
    tables: dict[str, Table],
    recommended: bool | None,
    told: ShowStep,
) -> tuple[Recognised, Dataset]:
    """Return the spec settled by the data, and the data set; if wanted, without rows that stop reading."""
    answer, frontend = AdviceAnswer(recommended=recommended), Json()
    while True:
        try:
            dataset = bringing.formed(found.spec, tables, told)
        except DataError as error:
            data = (
                None if "repeated" in sent.data else mended(found.spec.data, error.problems, answer, frontend)
            )
            if data is None:
                raise
            found = replace(
                found, known=replace(found.spec, data=data), notes=[*found.notes, *frontend.notes]
            )
            frontend.notes.clear()
        else:
            return found.settled_by(dataset, sent), dataset


def _validated(
    bringing: Bringing, new: NewCheck, sent: SentSpec, told: ShowStep
) -> tuple[HTTPStatus, Checked]:
    lists: dict[str, list[Any]] = {name: [] for name in ("groups", "notes", "hints", "questions")}
    answer = Checked(runs=False, spec=None, data=None, problems=_of_spec(sent.wrong), **lists)
    whole = not answer.problems
    sent = sent if whole else sent.sound
    try:
        tables = bringing.tables(sent.data, told)
        told("Looking at what the files hold")
        found = recognised(sent, tables, new.recommended)
        answer.notes = found.notes
        answer.questions = [forms.Question.of(one, text=ask(one)) for one in found.questions]
        if found.known is not None:
            found, dataset = _read(bringing, found, sent, tables, new.recommended, told)
            answer.notes, answer.spec = found.notes, found.spec.to_dict() if whole else None
            answer.data = to_json(dataset.summary)
            grouping = checked_groups(dataset, found.spec)
            answer.groups = [
                forms.GroupFormed(group=one.by_axis, raters=int(count))
                for one, count in zip(grouping.groups, grouping.n_raters, strict=True)
            ]
            answer.hints = hints(sent, found.spec, tables, dataset, grouping)
    except SpecError as error:
        answer.problems += _of_spec(error.sentences)
    except DataError as error:
        answer.problems += [ProblemListed(**listed(one)) for one in error.problems]
    answer.runs = not answer.questions and not answer.problems
    return HTTPStatus.OK, answer


def _of_spec(sentences: Sequence[str]) -> list[ProblemListed]:
    return [ProblemListed(code="spec", text=for_requests(text), place="spec") for text in sentences]


def _reported(
    bringing: Bringing, new: NewReport, sent: SentSpec, told: ShowStep
) -> tuple[HTTPStatus, JsonObject]:
    tables = bringing.tables(sent.data, told)
    found, dataset = _formed(bringing, sent, tables, new.recommended, told)
    analysis = found.spec.analysis
    if new.power and not analysis.axes:
        raise SpecError("power needs groups: name an axis", field="axes")
    axes = analysis.axes if new.power else ()
    power = power_of(dataset, axes, lambda done, of: told(f"Simulating group {done + 1} of {of}"))
    told("Looking at raters and groups")
    exchange = exchange_of(dataset.raters, analysis) if analysis.axes else None
    report = quality_report(dataset, names=analysis.tested or None, power=power, exchange=exchange)
    frontend = Json()
    read = Reading(tables["annotations"], tables.get("raters"), found.spec.data)
    request.say_batches(read, tuple(dataset.raters.axes), dataset, report.warnings, frontend)
    groups = checked_groups(dataset, found.spec)
    helpful = [*dict.fromkeys((*hints(sent, found.spec, tables, dataset, groups), *frontend.notes))]
    said = [printable(for_requests(one)) for one in findings(report, report.duplicates)]
    plain = report.to_dict()
    warnings = [{**one, "text": for_requests(one["text"])} for one in plain["warnings"]]
    told_too = {"sentences": said, "notes": found.notes, "hints": helpful}
    return HTTPStatus.OK, JsonObject({**plain, "warnings": warnings, **told_too})
