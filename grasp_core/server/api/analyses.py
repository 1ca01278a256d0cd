"""Questions about runs that are done: comparison with another run, map of raters, plan, items of groups."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from operator import attrgetter
from typing import Any, ClassVar

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import JSONResponse, Response

from grasp_core.analysis.items.panel import ItemsRequest
from grasp_core.analysis.planner.simulation import (
    UNLESS_SAID,
    PlanTask,
    assumed_task,
    make_plan,
    task_of,
    usual,
)
from grasp_core.analysis.planner.values import Assumed, PlanSpec, plan_dict
from grasp_core.analysis.rater_map import MapTask, rater_map
from grasp_core.analysis.rater_map_values import ANSWER, RaterMap, of_answer, rater_map_dict
from grasp_core.engine.request_fields import for_requests
from grasp_core.engine.service import check_items, id_of, possible_requests
from grasp_core.model.access import EVERYONE, User
from grasp_core.model.data_spec import one_question
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import Group, form_groups, one_line
from grasp_core.model.json_values import FormError, from_json, to_json
from grasp_core.model.result import RunResult
from grasp_core.model.text import listed, printable, quoted
from grasp_core.report.changes import details, headline
from grasp_core.report.comparison import compare, in_words
from grasp_core.report.plan import sentences
from grasp_core.report.rater_map import sentences as map_sentences
from grasp_core.server.api import _answers
from grasp_core.server.api._admission import Asking, Caller, map_shown_to
from grasp_core.server.api.forms import AskedItems, Form, FoundItems, Items, Makers, NewItems, Work
from grasp_core.server.api.runs import AGAIN_SECONDS, agreement_of, result_of, visible_run
from grasp_core.server.problem import ProblemError, again_after, missing
from grasp_core.store.runs import RunRecord

router = APIRouter(tags=["Questions about runs"])
_OF_MODELS = "Results about models have neither map nor plan."
_Work = Callable[[_answers.ShowStep], _answers.Done]


class Differs(Form):
    """A difference between the two runs, in words."""

    what: str
    a: str
    b: str


class Value(Form):
    """A statistic of one of the runs."""

    value: float | None
    q: float | None
    significance: str


class Moved(Form):
    """A statistic of a group in both runs."""

    group: dict[str, str]
    model: str | None
    statistic: str
    label: str | None = Field(description="The label, for label use.")
    a: Value
    b: Value
    moved: float | None = Field(description="Value in b minus value in a; null if either is not estimable.")
    interval: tuple[float, float] | None = Field(description="95 % interval of `moved`.")
    changed_significance: bool
    made: ClassVar[Makers] = {
        "group": lambda change: change.group.by_axis,
        "moved": lambda change: change.value_moved,
        "interval": lambda change: change.moved_interval and attrgetter("low", "high")(change.moved_interval),
    }


class Judged(Form):
    """A group's verdict in both runs."""

    group: dict[str, str]
    a: str
    b: str


class Compared(Form):
    """The comparison of run b with run a."""

    a: str
    b: str
    sentences: list[str] = Field(
        description="Sentences on changed verdicts, then on other changes, statistic by statistic."
    )
    noise_alone: bool | None = Field(description="True if noise may explain all changes; null if unknown.")
    asked: list[Differs] = Field(description="Differences between the two specs.")
    data: list[Differs] = Field(description="Differences between the data.")
    verdicts: list[Judged] = Field(description="The verdict of each group in both results.")
    changes: list[Moved]


class NewPlan(Form):
    """A next round to plan."""

    run: str | None = Field(None, max_length=32, description="Id of the pilot's run; null to assume a task.")
    group: dict[str, str] | None = Field(
        None, description="The pilot's group by its value on each axis, as in the result."
    )
    spec: dict[str, Any] = Field(
        {},
        description="target, size, label, goal, share, raters, items, each, per_annotation, per_rater, "
        "level, seed, and without a run `assumed`: labels and agreement; by default as the pilot suggests.",
    )


@router.get("/runs/{run_id}/compare/{other_id}", response_model=Compared)
def compare_runs(run_id: str, other_id: str, asking: Asking) -> Compared:
    """Compare another run (b) with a run (a), as *Results* and `grasp compare` do."""
    _ = asking.person
    a, b = (result_of(asking, visible_run(asking, one)) for one in (run_id, other_id))
    found = compare(a, b)
    if found is None:
        raise ProblemError(
            "spec",
            "One of the two is about models and the other about agreement, so there is nothing to compare.",
        )
    told = [headline(found), *details(found), *in_words(found)]
    return Compared(
        a=run_id,
        b=other_id,
        sentences=[printable(for_requests(one_line(one))) for one in told],
        noise_alone=found.noise_alone,
        asked=[Differs.of(one) for one in found.spec],
        data=[Differs.of(one) for one in found.data],
        verdicts=[
            Judged(group=group.by_axis, a=one.a.code, b=one.b.code)
            for one in found.verdicts
            for group in one.groups
        ],
        changes=[Moved.of(one) for one in found.changes],
    )


@router.get("/runs/{run_id}/rater-map", response_model=dict[str, Any], responses=_answers.NOT_AGAIN)
def read_rater_map(run_id: str, asking: Asking) -> Response:
    """Return the map of a run's raters, once it was drawn on *Results* or requested here; it names nobody."""
    record = visible_run(asking, run_id)
    result = agreement_of(asking, record, _OF_MODELS)
    found = map_shown_to(asking, of_answer(asking.server.answers.find(record.id, ANSWER)), result)
    if found is None:
        raise ProblemError("not-found", "The raters of this run were not mapped yet; POST here does it.")
    return _answers.TaggedJson(_map_json(found, result), headers=_answers.PRIVATE)


@router.post("/runs/{run_id}/rater-map", status_code=HTTPStatus.ACCEPTED, response_model=Work)
def draw_rater_map(run_id: str, asking: Asking, idempotency_key: _answers.IdempotencyKey = None) -> Response:
    """Place the raters by how they agree, as *Results* and `grasp rater-map` do; the map is kept."""
    record = visible_run(asking, run_id)
    user = asking.runner(record.project)
    result = agreement_of(asking, record, _OF_MODELS)

    def draw(told: _answers.ShowStep) -> tuple[HTTPStatus, _answers.JsonObject]:
        server = asking.server
        answers = server.seen(user.reach(record.project)).answers
        found = of_answer(answers.find(record.id, ANSWER))
        if found is None:
            told("Reading the data")
            task = MapTask.of(server.service.data_of(record), record.spec.analysis)
            found = rater_map(
                task, server.service.pool.each, lambda share: told(f"Placing the raters: {share:.0%}")
            )
            answers.keep(record.id, ANSWER, to_json(found))
        return HTTPStatus.OK, _answers.JsonObject(_map_json(found, result))

    return _later(asking, user, idempotency_key, f"POST /runs/{record.id}/rater-map", "", draw)


def _map_json(found: RaterMap, result: RunResult) -> dict[str, Any]:
    """Return a map in the format of files, with the page's sentences about it."""
    said = [
        printable(for_requests(one_line(one.plain)))
        for one in map_sentences(found, result.spec.analysis.level)
    ]
    return {**rater_map_dict(found, result.spec, result.data.sha256), "sentences": said}


@router.post("/plans", status_code=HTTPStatus.ACCEPTED, response_model=Work)
def make_a_plan(new: NewPlan, asking: Asking, idempotency_key: _answers.IdempotencyKey = None) -> Response:
    """Plan how many raters and items would find a difference next time, as `grasp plan` does.

    The plan starts from a run that is done and one of its groups or, without a run, from assumptions.
    """
    _ = asking.person
    if new.run is None:
        user = asking.runner(EVERYONE)
        if new.group is not None:
            raise SpecError("a plan without a run has no group", field="group")
        assumed = new.spec.get("assumed", {})
        if isinstance(assumed, dict):
            assumed = {**to_json(Assumed()), **assumed}
        supposed = assumed_task(_spec(UNLESS_SAID, {**new.spec, "assumed": assumed}))
    else:
        record = visible_run(asking, new.run)
        user = asking.runner(record.project)
        result = agreement_of(asking, record, _OF_MODELS)
        if not new.group:
            raise SpecError("a plan from a run takes one of its groups", field="group")
        wanted = Group(tuple(new.group), tuple(new.group.values()))
        found = [row.group for row in result.groups if row.group.key == wanted.key]
        if not found:
            raise ProblemError("not-found", f"The run has no group {printable(wanted.label)}.")

    def plan(told: _answers.ShowStep) -> tuple[HTTPStatus, _answers.JsonObject]:
        told("Reading the data")
        made = make_plan(
            supposed if new.run is None else _from_run(asking, record, found[0], new.spec),
            asking.server.service.pool.each,
            lambda so_far: told(f"{so_far.done:,} of {so_far.total:,} data sets simulated"),
        )
        said = [printable(for_requests(one_line(one.plain))) for one in sentences(made)]
        return HTTPStatus.OK, _answers.JsonObject({**plan_dict(made), "sentences": said})

    return _later(asking, user, idempotency_key, "POST /plans", new.model_dump_json(), plan)


def _later(asking: Caller, user: User, key: str | None, action: str, asked: str, do: _Work) -> Response:
    """Answer a question that takes long to compute, once per key."""

    def begin() -> _answers.Done:
        asking.server.rates.run(asking.asker)
        return _answers.later(asking, user, do, asking.server.questions)

    return _answers.once(asking, key, action, asked, begin)


def _from_run(asking: Caller, record: RunRecord, group: Group, spec: Mapping[str, Any]) -> PlanTask:
    dataset, analysis = asking.server.service.data_of(record), record.spec.analysis
    grouping = form_groups(dataset.raters, [group.axes], min_raters=analysis.min_raters)
    g, annotations = grouping.groups.index(group), dataset.annotations
    known = int(grouping.known[grouping.known_of[g]].sum())
    suggested = usual(int(grouping.n_raters[g]), known, annotations.n_items, annotations.n_annotations)
    asked = _spec({**suggested, "level": analysis.level}, spec)
    return task_of(dataset, group, asked, min_raters=analysis.min_raters)


def _spec(usual_fields: Mapping[str, Any], given: Mapping[str, Any]) -> PlanSpec:
    plain = {"target": "labels", **to_json(dict(usual_fields)), **given}
    try:
        return from_json(plain, PlanSpec)
    except FormError as error:
        first, *further = error.sentences
        raise SpecError(first, field="spec", further=further) from None


of_groups = APIRouter(tags=["Items of groups"])

_WHAT = "list of items"


@of_groups.get("/runs/{run_id}/items")
def list_items(run_id: str, asking: Asking) -> Items:
    """List the groups of a run whose items were requested, on the page or here."""
    record, result = _run(asking, run_id)
    kept = asking.server.items.kept_ids(record)
    asked = ((one, id_of(one.group, one.question) in kept) for one in possible_requests(result))
    found = (_items_state(asking, record, one, kept=is_kept) for one, is_kept in asked)
    return Items(items=[one for one in found if one is not None])


@of_groups.post(
    "/runs/{run_id}/items",
    status_code=HTTPStatus.ACCEPTED,
    response_model=AskedItems,
    responses={200: {"model": AskedItems, "description": "The same was asked before, and is kept"}},
)
def ask_items(
    run_id: str, new: NewItems, asking: Asking, idempotency_key: _answers.IdempotencyKey = None
) -> Response:
    """Find the items behind the difference in a group's labels, as *Results* does; kept with the run.

    They are computed once for everybody, which takes some seconds.
    """
    record, result = _run(asking, run_id)
    asking.runner(record.project)

    def ask() -> _answers.Done:
        check_items(result)
        server, asked = asking.server, _asked(result, new)
        named = id_of(asked.group, asked.question)
        if named in server.items.kept_ids(record):
            return HTTPStatus.OK, AskedItems.of(asked, state="done", share=1.0, error=None)
        going = server.items.under_way(record, named)
        if going is None or going.ended.is_set():
            server.rates.run(asking.asker)
        making = server.items.start(record, asked, owner=asking.person.id)
        return HTTPStatus.ACCEPTED, AskedItems.of(asked, state="running", share=making.share, error=None)

    place = f"/runs/{record.id}/items"
    return _answers.once(asking, idempotency_key, f"POST {place}", new.model_dump_json(), ask, place=place)


@of_groups.get("/runs/{run_id}/items/{items_id}", response_model=FoundItems, responses=_answers.NOT_AGAIN)
def read_items(run_id: str, items_id: str, asking: Asking) -> Response:
    """Return the items of a group, in the format of files; before they are found, the progress.

    The answer has ids of items and counts of labels, no text and no rater.
    """
    record, result = _run(asking, run_id)
    asked = {id_of(one.group, one.question): one for one in possible_requests(result)}.get(items_id)
    if asked is None:
        raise missing(_WHAT)
    plain = asking.server.items.kept(record.id, record.project, items_id)
    if plain is not None:
        return _answers.TaggedJson(plain, headers=_answers.PRIVATE)
    told = _items_state(asking, record, asked, kept=False)
    if told is None:
        raise missing(_WHAT)
    again = again_after(AGAIN_SECONDS) if told.state == "running" else {}
    return JSONResponse(told.model_dump(), headers={**_answers.PRIVATE, **again})


def _run(asking: Caller, run_id: str) -> tuple[RunRecord, RunResult]:
    """Return a run that the person may see, and its result."""
    _ = asking.person
    record = visible_run(asking, run_id)
    return record, agreement_of(asking, record, "Results about models have no groups.")


def _asked(result: RunResult, new: NewItems) -> ItemsRequest:
    """Return the request for items, with the group as the result has it."""
    labels = [str(one.label) for one in result.spec.data.questions]
    if new.question is not None and new.question not in labels:
        named = quoted(printable(new.question))
        raise ProblemError("not-found", f"There is no question {named}; there is {listed(labels)}.")
    if new.question is None and len(labels) > 1:
        raise SpecError(one_question(labels), field="question")
    question = result.spec.data.question_named(new.question)
    wanted = Group(tuple(new.group), tuple(new.group.values()))
    for asked in possible_requests(result):
        if (asked.group.key, asked.question) == (wanted.key, question):
            return asked
    shown = printable(f"{wanted.label} of {' x '.join(wanted.axes)}")
    raise ProblemError("not-found", f"The run has no group {shown}.")


def _items_state(asking: Caller, record: RunRecord, asked: ItemsRequest, *, kept: bool) -> AskedItems | None:
    """Return the state of requested items; None if nobody requested them, or another server computes them."""
    if kept:
        return AskedItems.of(asked, state="done", share=1.0, error=None)
    making = asking.server.items.under_way(record, id_of(asked.group, asked.question))
    if making is None or making.cancelled:
        return None
    state = "running" if making.error is None else "failed"
    return AskedItems.of(asked, state=state, share=making.share, error=making.error)
