"""Runs asked for: from a spec and files, with the refusals of the page."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from http import HTTPStatus

from fastapi import APIRouter
from starlette.responses import Response

from grasp_core.engine.run import checked_groups
from grasp_core.model.access import User
from grasp_core.model.errors import DataError
from grasp_core.model.spec import SPEC_VERSION, RunSpec
from grasp_core.reading.guess.advice import Named, all_taken, told
from grasp_core.reading.table.table import Table
from grasp_core.reading.tables import guessed
from grasp_core.report.contents import run_title
from grasp_core.server.api.admission import Asking, Caller
from grasp_core.server.api.forms import Files, NewRun, Run, StartedRun
from grasp_core.server.api.once import Done, IdempotencyKey, once

router = APIRouter(tags=["Runs"])

_RECOGNISED = ("missing", "recode", "categories", "filters")
"""What is recognised of how files are read, where the columns are named and this is not."""


@router.post(
    "/runs",
    status_code=HTTPStatus.CREATED,
    response_model=StartedRun,
    responses={200: {"model": StartedRun, "description": "You asked the same data and spec before"}},
)
def start_run(new: NewRun, asking: Asking, idempotency_key: IdempotencyKey = None) -> Response:
    """Read the files, check data and spec as the page does, and start the run.

    The same data and spec give the same run to whoever asks them again. Where somebody else in the project
    asked them, nothing is computed again, but the run is your own.
    """
    user = asking.runner(new.project)
    return once(
        asking, idempotency_key, "POST /runs", new.model_dump_json(), lambda: _start(asking, user, new)
    )


def _start(asking: Caller, user: User, new: NewRun) -> Done:
    server = asking.server
    server.rates.run(asking.asker)
    started = time.perf_counter()
    spec = RunSpec.from_dict({"version": SPEC_VERSION, **new.spec})
    if new.webhook is not None:
        server.webhooks.check(new.webhook)
    reach, models = user.reach(new.project), [(one.name, one.sha256) for one in new.files.models]
    tables = server.service.inputs.tables(spec.data, _by_kind(new.files), reach=reach)
    spec, notes = _as_recognised(spec, new.spec.get("data", ()), tables, new.recommended)
    dataset = server.service.inputs.formed(spec, tables, models, reach=reach)
    checked_groups(dataset, spec)
    record, known = server.service.submit(
        dataset,
        spec,
        title=new.title or run_title(spec),
        reach=reach,
        owner=user.id,
        load_s=time.perf_counter() - started,
    )
    server.audit.record(user.id, "run", "run", record.id, {"known": known})
    if new.webhook is not None:
        server.webhooks.register(record.id, new.webhook, owner=user.id)
    return HTTPStatus.OK if known else HTTPStatus.CREATED, StartedRun(**dict(Run.of(record)), notes=notes)


def _as_recognised(
    spec: RunSpec, given: Collection[str], tables: Mapping[str, Table], recommended: bool | None
) -> tuple[RunSpec, list[str]]:
    """The spec with what it leaves open as it is recognised, as by every other door, and what is to be known.

    Parameters
    ----------
    given : collection of str
        The fields of its data spec that were sent; they stay as they are.
    tables : mapping
        The files, "annotations" among them.
    recommended : bool or None
        The answer to what the files mark to be left out; without one that is told, first.
    """
    data = spec.data
    named = Named.among({name: getattr(data, name) for name in ("layout", "item", "rater", "label")})
    declared = {*(data.categories or ()), *data.missing}
    try:
        guess = guessed(tables["annotations"], tables.get("raters"), named=named, declared=declared)
    except DataError:  # what is wrong is told when the files are read so
        return spec, []
    free = [name for name in _RECOGNISED if name not in given]
    if "recode" in given and "categories" in free:
        free.remove("categories")
    data = replace(data, **{name: getattr(guess.spec, name) for name in free})
    notes = [f"{one.field}: {one.sentence}" for one in guess.reasons if one.field in free]
    advice = [one for one in guess.advice if one.column not in data.ignore and not one.followed(data)]
    if recommended:
        data = all_taken(advice, data)
    elif advice and recommended is None:
        notes.insert(0, told(advice, '"recommended": true', '"recommended": false', _missing))
    return replace(spec, data=data), notes


def _missing(text: str) -> str:
    return f'{json.dumps(text)} in "missing"'


def _by_kind(files: Files) -> dict[str, tuple[str, str]]:
    given = {"annotations": files.annotations, "raters": files.raters, "items": files.items}
    return {kind: (file.name, file.sha256) for kind, file in given.items() if file is not None}
