"""Readings of files: options come first, all other fields are recognised, and rows may be left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from grasp_core.engine.frontend import Frontend
from grasp_core.model.data_spec import Bins, Combine, DataSpec, Question
from grasp_core.model.errors import DataError, Problem, SpecError, UnsureError, raise_stopping
from grasp_core.model.remarks.problems import FileProblem
from grasp_core.reading.dataset.checks import no_column
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.guess.advice import Advice, Named, all_taken, labels_less, mending, told
from grasp_core.reading.guess.file_roles import with_items
from grasp_core.reading.guess.recognise import Guess, question, recognise
from grasp_core.reading.table.parsed import with_joined
from grasp_core.reading.table.table import Recipe, Table

_NAMED = ("layout", "item", "rater", "label", "profile", "ignore")
_TOLD_FIRST = (FileProblem.ONE_MEMBER_READ, FileProblem.HEADER_OF_NUMBERS)
"""Problems of a file that may explain why a question has no answer."""
_LISTS = ("drop", "raters", "items")
"""`_NAMED`: fields without notes if all of them are named; `_LISTS`: lists of the filters."""


@dataclass(frozen=True, slots=True, eq=False)
class InputTables:
    """The files that somebody gives: annotations, and tables of the raters and of the items."""

    annotations: Table
    raters: Table | None = None
    items: Table | None = None


Mend = Callable[[DataSpec, Sequence[Problem]], DataSpec | None]
"""Gives the spec without rows that stop it, by somebody's answer; None without one, or if not enough."""


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The files, and the spec by which they are read.

    `axes`, `recipe`: if the reading was recognised, the proposed axes, and the known format that decided it.
    `ranked`: True if somebody, or the data, put the spec's labels in an order.
    """

    annotations: Table
    raters: Table | None
    spec: DataSpec
    axes: tuple[str, ...] = ()
    recipe: Recipe | None = None
    items: Table | None = None
    ranked: bool = True
    mend: Mend | None = None

    def formed(self, axes: Sequence[str] = (), slices: Sequence[str] = ()) -> tuple[Reading, Dataset]:
        """Return the reading, with answers on rows that stop it, and its data set as of :meth:`dataset`."""
        found = self
        while True:
            try:
                return found, found.dataset(axes, slices)
            except DataError as error:
                spec = None if self.mend is None else self.mend(found.spec, error.problems)
                if spec is None:
                    raise
                found = replace(found, spec=spec)

    def dataset(self, axes: Sequence[str] = (), slices: Sequence[str] = ()) -> Dataset:
        """Load the data set with these columns of the raters and of the items."""
        return load(self.annotations, self.raters, self.spec, axes, items=self.items, slices=slices)


Pairs = Sequence[tuple[str, str]]
_QUESTIONS = {"missing": "Take it for no answer?", "alike": "Take as one?"}


@dataclass(frozen=True, slots=True)
class AdviceAnswer:
    """Values to keep although advice is to leave them out; whether other advice is taken, if answered."""

    keep: Pairs = ()
    recommended: bool | None = None


def reading_of(
    given: InputTables,
    fields: Mapping[str, Any],
    frontend: Frontend,
    answer: AdviceAnswer | None = None,
    *,
    axes_named: bool = False,
) -> Reading:
    """Return the reading of the files; fields that nobody named are recognised, and noted.

    Naming a value that would be recognised changes nothing; but with `axes_named` no note on axes is shown.

    `fields`: fields of a data spec that somebody named, and always `filters`, `missing` and `recode`.
    """
    annotations, raters, items = given.annotations, given.raters, given.items
    fields = _as_read(annotations, fields)
    named = Named.among(fields)
    # A named label must be a column, or combined from some. Check that before asking for anything else.
    known = (*annotations.columns, *(step.into for step in fields["recode"] if isinstance(step, Combine)))
    if named.label is not None and not named.cells and named.label not in known:
        raise_stopping([no_column(named.label, (annotations,))])
    declared, further = {*_labels(fields), *fields["missing"]}, [one.label for one in _further(fields)]
    guess = recognise(annotations, raters, named, declared, further)
    annotations = with_joined(annotations, (guess.spec.item, guess.spec.rater))
    guess = with_items(guess, annotations, items, fields.get("items_id"))
    cut = {step.column for step in fields["recode"] if isinstance(step, Bins)}
    needed = ("items_id",) if named.whole else (*_NAMED, "items_id")
    # Values that are cut into ranges come from one person, so they are no aggregates.
    _refuse_unsure(given, guess, frontend, named.fields, needed if cut else (*needed, "aggregated"))
    numbers = (name for one in guess.reasons if one.field == "axes" for name in one.candidates)
    bands = tuple(name for name in numbers if name in cut)
    # Leave out the reasons why a column was no axis before it was cut.
    reasons = (one for one in guess.reasons if one.field != "axes" or set(one.candidates).isdisjoint(bands))
    guess = replace(guess, axes=(*guess.axes, *bands), reasons=tuple(reasons))
    if named.cells:
        fields = {name: value for name, value in fields.items() if name != "label"}
    answer = AdviceAnswer() if answer is None else answer
    spec = left_out(guess, _joined(guess.spec, fields), fields, answer, frontend)
    spec = replace(spec, further=further_without_missing(spec, _further(fields)))
    idle = set(fields.get("ignore", ()))
    axes = tuple(name for name in guess.axes if name not in idle)
    hidden = {*(_NAMED if named.whole else ()), *(("axes",) if axes_named else ())}
    out = {name for name, _ in (*fields["filters"].drop, *fields.get("exclude", ()))}
    out |= {*fields["filters"].raters}
    shown = [  # without what was asked about rows that are left out now
        one
        for one in guess.reasons
        if one.field not in hidden
        and not (one.field in ("filters", "exclude") and one.candidates and out.issuperset(one.candidates))
    ]
    for note in replace(guess, axes=() if axes_named else axes, reasons=tuple(shown)).notes:
        frontend.note(note)
    ranked, recipe = guess.ranked or "categories" in fields, guess.recipe
    if recipe is not None and recipe.paper:  # only if all that its authors left out is left out
        recipe = replace(recipe, paper=all(one.followed(spec) for one in guess.advice))
    mend = None if "repeated" in fields else partial(mended, answer=answer, frontend=frontend)
    return Reading(annotations, raters, spec, axes, recipe, items, ranked, mend)


def mended(
    spec: DataSpec, problems: Sequence[Problem], answer: AdviceAnswer, frontend: Frontend
) -> DataSpec | None:
    """Return the spec without rows that stop the reading, as recommended or as answered; else None."""
    one = mending(problems, spec)
    if one is None or answer.recommended is False:
        return None
    if answer.recommended:
        does = "the last answer counts" if one.field == "repeated" else "left out"
        if one.recommended:
            frontend.note(f"{does}, as recommended: {one.sentence}")
        return one.taken(spec) if one.recommended else None
    if one.field != "repeated":
        ways = {"Leave out?": (one, _leaving_out(one, frontend))}
    else:
        both = (one, replace(one, values=("first",), recommended=False))
        ways = {
            f"Let the {way.values[0]} one count?": (way, frontend.value("repeated", way.values[0]))
            for way in both
        }
    for question_, (way, option) in ways.items():
        if frontend.ask(f"{way.sentence}. {question_}", recommended=way.recommended):
            frontend.note(f"to answer so again: {option}")
            return way.taken(spec)
    return None


def _leaving_out(one: Advice, frontend: Frontend) -> str:
    if one.field == "drop":
        return frontend.condition("drop", one.column, "")
    return frontend.value(f"exclude_{one.field.removesuffix('s')}", "")


def as_named(given: InputTables, fields: Mapping[str, Any]) -> Reading:
    """Return the reading that the fields name; no column is recognised and no row is left out."""
    spec = DataSpec(**{"layout": "long", **_as_read(given.annotations, fields)})
    annotations = with_joined(given.annotations, (spec.item, spec.rater))
    return Reading(annotations, given.raters, spec, items=given.items, ranked=spec.categories is not None)


def _as_read(annotations: Table, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields; columns of ids that are named as in a tool's file are named as they are read."""
    recipe, columns = annotations.recipe, annotations.columns
    if recipe is None or not recipe.ids:
        return fields
    own = dict(zip(("item", "rater"), recipe.ids, strict=True))
    renamed = {role: role for role, name in own.items() if fields.get(role) == name and name not in columns}
    return {**fields, **renamed}


def _refuse_unsure(
    given: InputTables, guess: Guess, frontend: Frontend, named: Collection[str], fields: Sequence[str]
) -> None:
    """Refuse a guess that is unsure of one of the fields, with a list of candidates.

    If no column can contain items, or raters, only that is reported: the other questions depend on it.
    """
    unsure = [reason for reason in guess.uncertain if reason.field in fields]
    missing = [one for one in unsure if one.field in ("item", "rater") and not one.candidates]
    unsure = missing[:1] or unsure
    asked: dict[str, list[str]] = {}
    for reason in unsure:
        said = question(reason)
        of = given.items if reason.field == "items_id" and given.items is not None else given.annotations
        option = frontend.option(reason.field)
        if reason.field in ("profile", "ignore"):
            option = frontend.value(reason.field, list(reason.candidates))
        ask = f"{said}{'' if reason.candidates else '; if one holds them,'} name it with {option}"
        if reason.field == "aggregated":
            ask = said
        elif reason in missing and reason.field == "rater" and "layout" not in named:
            ask += f"; where each row or column is a rater's, name {frontend.option('layout')}"
        asked.setdefault(of.name, []).append(ask)
    if asked:
        sentences = [f"{file}: {'; '.join(questions)}" for file, questions in asked.items()]
        problems = given.annotations.problems
        sentences += [one.message for one in problems if one.remark.code in _TOLD_FIRST]
        raise UnsureError("; ".join(sentences), unsure[0].field)


def _joined(guessed: DataSpec, fields: Mapping[str, Any]) -> DataSpec:
    """Join the guess with the given fields: further missing texts, exclusions, steps and filters."""
    labels, given = _labels(fields), fields["filters"]
    undeclared = (text for text in guessed.missing if text not in labels)
    both = {name: (*getattr(given, name), *getattr(guessed.filters, name)) for name in _LISTS}
    more = {
        **fields,
        # In a matrix all other columns are cells: naming one of these must not change the others.
        "profile": guessed.profile,
        "ignore": guessed.ignore,
        "missing": tuple(dict.fromkeys((*fields["missing"], *undeclared))),
        "recode": tuple(dict.fromkeys((*guessed.recode, *fields["recode"]))),
        "filters": replace(given, **{name: tuple(dict.fromkeys(values)) for name, values in both.items()}),
    }
    changed = {step.into if isinstance(step, Combine) else step.column for step in fields["recode"]}
    if "categories" not in fields and not changed.isdisjoint({None, guessed.label}):
        more["categories"] = None  # the steps change which labels there are
    typed = [one for one in guessed.further if changed.isdisjoint({None, one.label})]
    more["further"] = with_types(_further(fields), typed)
    joined = replace(guessed, **more)
    return joined if "categories" in fields else labels_less(joined, joined.missing)


def _labels(fields: Mapping[str, Any]) -> set[str]:
    """Return the texts declared to be labels, of any question."""
    declared = set(fields.get("categories") or ())
    return declared.union(*(one.categories or () for one in _further(fields)))


def _further(fields: Mapping[str, Any]) -> Sequence[Question]:
    further: Sequence[Question] = fields.get("further", ())
    return further


def with_types(given: Sequence[Question], guessed: Sequence[Question]) -> tuple[Question, ...]:
    """Return the given further questions; those without labels have the labels of their columns' types."""
    typed = {one.label: one.categories for one in guessed}
    return tuple(replace(one, categories=one.categories or typed.get(one.label)) for one in given)


def further_without_missing(spec: DataSpec, given: Sequence[Question]) -> tuple[Question, ...]:
    """Return the further questions without missing texts among labels that nobody named in `given`."""
    named = {one.label for one in given if one.categories is not None}
    return tuple(
        one if one.label in named else replace(one, categories=labels_less(alone, alone.missing).categories)
        for one, alone in zip(spec.further, spec.questions[1:], strict=True)
    )


def left_out(
    guess: Guess, spec: DataSpec, fields: Mapping[str, Any], answer: AdviceAnswer, frontend: Frontend
) -> DataSpec:
    """Return the guess with the named fields, without rows that are to be left out if anybody answers."""
    spec = _kept(spec, guess.advice, answer.keep, frontend)
    advice = left_open(guess.advice, spec, fields, answer)
    if answer.recommended is False:
        return spec
    if answer.recommended:
        for one in (one for one in advice if one.recommended):
            keeps = frontend.condition("keep", *one.pairs[0])
            does, undoes = (
                ("taken as one", "keeps it apart") if one.field == "alike" else ("left out", "counts them")
            )
            frontend.note(f"{does} as recommended: {one.sentence}; {keeps} {undoes}")
        for one in advice if spec.further else ():  # another question may be why it is not recommended
            if one.field == "missing" and not one.group and not one.recommended:
                takes = frontend.value("missing", one.values[0])
                frontend.note(f"kept as a label: {one.sentence}; {takes} takes it for no answer")
        if not any(one.recommended for one in advice):
            frontend.note("nothing else is recommended")
        return all_taken(advice, spec)
    answers = []
    for one in advice:
        question = _QUESTIONS.get(one.field, "Leave out?")
        answers.append(frontend.ask(f"{one.sentence}. {question}", recommended=one.recommended))
    if not advice or None in answers:
        if advice:
            takes, declines = frontend.value("recommended", True), frontend.value("recommended", False)
            frontend.note(told(advice, takes, declines, lambda text: frontend.value("missing", text)))
        return spec
    taken = [one for one, yes in zip(advice, answers, strict=True) if yes]
    frontend.note(f"to answer so again: {_again(advice, taken, frontend)}")
    for one in taken:
        spec = one.taken(spec)
    return spec


def left_open(
    advice: Sequence[Advice], spec: DataSpec, fields: Mapping[str, Any], answer: AdviceAnswer
) -> list[Advice]:
    """Return the advice that the named fields leave open.

    Advice on ignored columns is dropped; so is advice on columns named as profiles, unless advice is taken.
    An empty `exclude` excludes nobody.
    """
    idle = {*fields.get("ignore", ()), *(() if answer.recommended else fields.get("profile", ()))}
    nobody = fields.get("exclude") == ()
    found = (
        one.without(answer.keep)
        for one in advice
        if one.column not in idle and not (nobody and one.field == "exclude") and not one.followed(spec)
    )
    return [one for one in found if one is not None]


def _kept(spec: DataSpec, advice: Sequence[Advice], keep: Pairs, frontend: Frontend) -> DataSpec:
    """Return the spec without the filters on values that are to be kept."""
    items = [(str(spec.item), one) for one in spec.filters.items]
    raters = [(str(spec.rater), one) for one in spec.filters.raters]
    known = (*spec.filters.drop, *items, *raters, *(pair for one in advice for pair in one.pairs))
    needless = [pair for pair in keep if pair not in known]
    if needless:
        named = ", ".join(f"{column}={value}" for column, value in dict.fromkeys(known)) or "nothing"
        raise SpecError(
            f"{frontend.condition('keep', *needless[0])}: such annotations are not left out; "
            f"left out by their values, or recommended to be: {named}"
        )
    filters = replace(
        spec.filters,
        drop=tuple(pair for pair in spec.filters.drop if pair not in keep),
        items=tuple(pair[1] for pair in items if pair not in keep),
        raters=tuple(pair[1] for pair in raters if pair not in keep),
    )
    return replace(spec, filters=filters)


def _again(advice: Sequence[Advice], taken: Sequence[Advice], frontend: Frontend) -> str:
    sure = [one for one in taken if one.recommended]
    kept = [pair for one in advice if one.recommended and one not in taken for pair in one.pairs]
    named = [text for one in taken if not one.recommended for text in one.values]
    return " ".join(
        [
            frontend.value("recommended", bool(sure)),
            *(frontend.condition("keep", *pair) for pair in (kept if sure else ())),
            *(frontend.value("missing", text) for text in named),
        ]
    )
