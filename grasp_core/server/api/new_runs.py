"""New runs, and previews of them: files are read as a spec says, or as recognised if it does not say."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import islice
from typing import Any, Self

from fastapi import APIRouter
from starlette.responses import Response

from grasp_core.analysis.design import Seen, check_assignment
from grasp_core.engine import run_request as request
from grasp_core.engine.frontend import KeepingNotes
from grasp_core.engine.reading_request import (
    AdviceAnswer,
    Reading,
    further_without_missing,
    left_open,
    mended,
    with_types,
)
from grasp_core.engine.request_fields import for_requests
from grasp_core.engine.run import checked_groups
from grasp_core.model.access import User
from grasp_core.model.errors import DataError, SpecError, UnsureError
from grasp_core.model.groups import Grouping
from grasp_core.model.json_values import to_json
from grasp_core.model.spec import SPEC_VERSION, RunSpec
from grasp_core.model.text import printable
from grasp_core.permutation.draw import exchange_of
from grasp_core.reading.connectors.source import parse
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.guess.advice import Named, Reason, all_taken, labels_less, told
from grasp_core.reading.guess.recognise import Guess, question
from grasp_core.reading.guess.tables import guessed
from grasp_core.reading.table.table import Table
from grasp_core.report.account import assignment_warnings
from grasp_core.report.contents import run_title
from grasp_core.report.quality import findings, power_of, quality_report
from grasp_core.server.api import forms
from grasp_core.server.api._admission import Asking, Caller
from grasp_core.server.api._answers import Done, IdempotencyKey, JsonObject, ShowStep, later, once
from grasp_core.server.api.forms import Checked, NewCheck, NewReport, NewRun, ProblemListed, StartedRun, Work
from grasp_core.server.problem import ProblemError, listed

_COLUMNS = ("item", "rater", "label")
_RECOGNISED = ("missing", "recode", "categories", "filters")
"""Settings of reading that are recognised if a spec leaves them out, even if it names the columns.

Texts that are recognised as missing are added to those of a spec, as the command does.
"""

_FIELDS, _TRIED_BYTES = 64, 2**14
"""Most fields in either part, and bytes, of an invalid spec that is tried; a spec has 21 fields at most."""
LARGE = 16 * 2**20
"""Most bytes that are read within a request, which takes about 2 s."""
_Brought = forms.File | forms.Place | forms.Fetch
_PARTS = {"annotations": "part", "raters": "raters_part", "items": "items_part"}


class Json(KeepingNotes):
    """Names options as a request's JSON does, and keeps notes."""

    def note(self, sentence: str) -> None:
        """See :class:`~grasp_core.engine.frontend.Frontend`."""
        super().note(for_requests(sentence))

    def option(self, field: str) -> str:
        """See :class:`~grasp_core.engine.frontend.Frontend`."""
        return json.dumps({"axis": "axes"}.get(field, field))

    def value(self, field: str, value: object) -> str:
        """See :class:`~grasp_core.engine.frontend.Frontend`."""
        return f"{json.dumps(field)}: {json.dumps(value)}"


@dataclass(frozen=True, slots=True)
class SentSpec:
    """A spec as it was sent."""

    plain: Mapping[str, Any]

    @property
    def data(self) -> Any:
        """The settings of reading; if they are no object, the spec is refused when it is read."""
        return self.plain.get("data", {})

    @property
    def analysis(self) -> Any:
        """The settings of the analysis; if they are no object, the spec is refused when it is read."""
        return self.plain.get("analysis", {})

    @property
    def columns_open(self) -> bool:
        """True if columns are left to be recognised."""
        if not isinstance(self.data, dict):
            return False
        long = self.data.get("layout", "long") == "long"
        return long and any(self.data.get(name) is None for name in _COLUMNS)

    @property
    def axes_open(self) -> bool:
        """True if axes are left to be recognised."""
        return isinstance(self.analysis, dict) and "axes" not in self.analysis

    def filled(self, guess: Guess | None = None) -> dict[str, Any]:
        """Return the spec with open columns and axes filled from a guess or, without one, by placeholders."""
        data, analysis = self.data, self.analysis
        if self.columns_open:
            known = dict.fromkeys(_COLUMNS, "?") if guess is None else to_json(guess.spec)
            data = {**known, **{name: value for name, value in data.items() if value is not None}}
        if self.axes_open:
            analysis = {**analysis, "axes": [] if guess is None else [[name] for name in guess.axes]}
        return {"version": SPEC_VERSION, **self.plain, "data": data, "analysis": analysis}

    @property
    def wrong(self) -> tuple[str, ...]:
        """Sentences on all that is wrong with the spec, whatever the files contain."""
        try:
            RunSpec.from_dict(self.filled())
        except SpecError as error:
            return error.sentences
        return ()

    @property
    def sound(self) -> Self:
        """The spec without the fields that make it invalid; empty for a long spec, as each field is tried."""
        kept = replace(self, plain={})
        if len(json.dumps(self.plain)) > _TRIED_BYTES:
            return kept
        for part, given in (("data", self.data), ("analysis", self.analysis)):
            for name, value in islice(given.items() if isinstance(given, dict) else (), _FIELDS):
                more = replace(kept, plain={**kept.plain, part: {**kept.plain.get(part, {}), name: value}})
                kept = kept if more.wrong else more
        return kept


@dataclass(frozen=True, slots=True)
class Recognised:
    """A spec as recognised; `known` is None if `questions` have to be answered first."""

    known: RunSpec | None
    notes: list[str]
    questions: tuple[Reason, ...] = ()

    @property
    def spec(self) -> RunSpec:
        """The spec; raises UnsureError if questions have to be answered first."""
        if self.known is None:
            raise UnsureError("; ".join(map(ask, self.questions)), self.questions[0].field)
        return self.known

    def settled_by(self, dataset: Dataset, sent: SentSpec) -> Self:
        """Settle the spec by the data, as pages and commands do; drop recognised axes without a large group.

        If the request does not say whether pairs are compared and permutations stop early, the data decide.
        """
        known, frontend = self.known, Json()
        if known is not None and sent.axes_open:
            known = request.with_groups(dataset, known, frontend)
        if known is not None and known.analysis.axes and not known.models and isinstance(sent.analysis, dict):
            known = request.settled(dataset, known, sent.analysis, frontend)
        return replace(self, known=known, notes=[*self.notes, *frontend.notes])


def ask(reason: Reason) -> str:
    """Return a question, and how to answer it."""
    return f'{for_requests(question(reason))}; name it as {json.dumps(reason.field)} in "data"'


def recognised(sent: SentSpec, tables: Mapping[str, Table], recommended: bool | None) -> Recognised:
    """Recognise what the spec leaves open, as pages and commands do.

    `recommended`: whether to leave out what the files mark to be left out; None puts a note on that first.
    """
    spec = RunSpec.from_dict(sent.filled())
    given: dict[str, Any] = sent.data
    named = Named.among({name: given[name] for name in ("layout", *_COLUMNS) if name in given})
    if not sent.columns_open:
        named = Named.among({name: getattr(spec.data, name) for name in ("layout", *_COLUMNS)})
    declared = {*spec.data.missing}.union(*(one.categories or () for one in spec.data.questions))
    further = [one.label for one in spec.data.further]
    try:
        guess = guessed(
            tables["annotations"],
            tables.get("raters"),
            tables.get("items"),
            named=named,
            declared=declared,
            further=further,
        )
    except DataError:  # if all columns are named, reading reports the error later
        if sent.columns_open:
            raise
        return Recognised(spec, [])
    asked = tuple(one for one in guess.uncertain if sent.columns_open and one.field not in given)
    if asked:
        return Recognised(None, [], asked)
    if sent.columns_open or sent.axes_open:
        spec = RunSpec.from_dict(sent.filled(guess))
    data = spec.data
    free = [name for name in _RECOGNISED if name not in given]
    if "recode" in given and "categories" in free:
        free.remove("categories")
    data = replace(data, **{name: getattr(guess.spec, name) for name in free})
    if free:  # a spec that names all of them is a saved one, and holds as it is
        labels = {label for one in data.questions for label in one.categories or ()}
        more = (text for text in guess.spec.missing if text not in labels)
        data = replace(data, missing=tuple(dict.fromkeys((*data.missing, *more))))
    data = labels_less(data, data.missing) if "categories" in free else data
    sent_further = data.further
    data = replace(data, further=with_types(sent_further, () if "recode" in given else guess.spec.further))
    open_ = [name for name in ("layout", *_COLUMNS) if sent.columns_open and name not in given]
    told_of = [*open_, *(["axes"] if sent.axes_open else []), *free, *(["missing"] if free else [])]
    shown = tuple(one for one in guess.reasons if one.field in told_of)
    read = replace(guess, axes=guess.axes if sent.axes_open else (), reasons=shown)
    notes = [*map(for_requests, read.notes)]
    fields: dict[str, Any] = {}
    fields |= {name: getattr(data, name) for name in ("exclude", "ignore", "profile") if name in given}
    advice = left_open(guess.advice, data, fields, AdviceAnswer(recommended=recommended))
    if recommended:
        data = all_taken(advice, data)
    elif advice and recommended is None:
        answers = '"recommended": true', '"recommended": false'
        # A list that is sent takes the place of the recognised one.
        notes.insert(0, told(advice, *answers, lambda text: Json().value("missing", [*data.missing, text])))
    data = replace(data, further=further_without_missing(data, sent_further))
    return Recognised(replace(spec, data=data), notes)


def hints(
    sent: SentSpec, spec: RunSpec, tables: Mapping[str, Table], dataset: Dataset, groups: Grouping
) -> list[str]:
    """Return what pages and commands say before a run: data read, left out and not used, and advice."""
    frontend = Json()
    read = Reading(tables["annotations"], tables.get("raters"), spec.data, items=tables.get("items"))
    asked = request.RunRequest(read, dataset, spec, groups).noted(sent.analysis, frontend)
    request.say_problems(dataset, frontend)
    if spec.analysis.axes:
        seen, exchange = Seen.of(dataset.annotations), exchange_of(dataset.raters, spec.analysis)
        checks = check_assignment(seen, dataset.annotations_of, groups, spec.analysis.axes, exchange)
        warnings = assignment_warnings(checks, of_models=bool(spec.models))
        for one in warnings:
            frontend.note(str(one))
        asked.say_afterwards(warnings, frontend)
    return [printable(one) for one in frontend.notes]


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
