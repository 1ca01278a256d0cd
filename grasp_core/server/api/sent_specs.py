"""The spec of a request: as it was sent, as the files complete it, and what is told of both."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Self

from grasp_core.analysis.design import Seen, check_assignment
from grasp_core.engine import run_request as request
from grasp_core.engine.frontend import KeepingNotes
from grasp_core.engine.reading_request import (
    AdviceAnswer,
    Reading,
    further_without_missing,
    left_open,
    with_types,
)
from grasp_core.engine.request_fields import for_requests
from grasp_core.model.errors import DataError, SpecError, UnsureError
from grasp_core.model.groups import Grouping
from grasp_core.model.json_values import to_json
from grasp_core.model.spec import SPEC_VERSION, RunSpec
from grasp_core.model.text import printable
from grasp_core.permutation.draw import exchange_of
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.guess.advice import Named, Reason, all_taken, labels_less, told
from grasp_core.reading.guess.recognise import Guess, question
from grasp_core.reading.guess.tables import guessed
from grasp_core.reading.table.table import Table
from grasp_core.report.account import assignment_warnings

_COLUMNS = ("item", "rater", "label")
_RECOGNISED = ("missing", "recode", "categories", "filters")
"""Settings of reading that are recognised if a spec leaves them out, even if it names the columns.

Texts that are recognised as missing are added to those of a spec, as the command does.
"""

_FIELDS, _TRIED_BYTES = 64, 2**14
"""Most fields in either part, and bytes, of an invalid spec that is tried; a spec has 21 fields at most."""


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
