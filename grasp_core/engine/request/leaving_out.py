"""What is left out: as somebody says, and what is recommended where somebody takes the advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grasp_core.engine.request.option_names import Voice
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import SpecError
from grasp_core.reading.guess.advice import Advice, all_taken, told
from grasp_core.reading.guess.recognise import Guess

Pairs = Sequence[tuple[str, str]]
_QUESTIONS = {"missing": "Take it for no answer?", "alike": "Take as one?"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What counts although it is advised to be left out, and whether other advice is taken, if said."""

    keep: Pairs = ()
    recommended: bool | None = None


def left_out(
    guess: Guess, spec: DataSpec, fields: Mapping[str, Any], answer: Answer, voice: Voice
) -> DataSpec:
    """The guess with the named fields, without what is to be left out.

    Where nobody says it, the advice is told and not taken.
    """
    spec = _kept(spec, guess.advice, answer.keep, voice)
    advice = _open(guess.advice, spec, fields, answer)
    if answer.recommended is False:
        return spec
    if answer.recommended:
        for one in (one for one in advice if one.recommended):
            keeps = voice.condition("keep", *one.pairs[0])
            does, undoes = (
                ("taken as one", "keeps it apart") if one.field == "alike" else ("left out", "counts them")
            )
            voice.note(f"{does} as recommended: {one.sentence}; {keeps} {undoes}")
        if not any(one.recommended for one in advice):
            voice.note("nothing else is recommended")
        return all_taken(advice, spec)
    answers = []
    for one in advice:
        question = _QUESTIONS.get(one.field, "Leave out?")
        answers.append(voice.ask(f"{one.sentence}. {question}", recommended=one.recommended))
    if not advice or None in answers:
        if advice:
            takes, declines = voice.value("recommended", True), voice.value("recommended", False)
            voice.note(told(advice, takes, declines, lambda text: voice.value("missing", text)))
        return spec
    taken = [one for one, yes in zip(advice, answers, strict=True) if yes]
    voice.note(f"to answer so again: {_again(advice, taken, voice)}")
    for one in taken:
        spec = one.taken(spec)
    return spec


def _open(
    advice: Sequence[Advice], spec: DataSpec, fields: Mapping[str, Any], answer: Answer
) -> list[Advice]:
    """The advice that the named fields leave open.

    Columns that are put aside do nothing, those that are named as profiles nothing unless the advice is
    taken, and an empty `exclude` leaves out nobody.
    """
    idle = {*fields.get("ignore", ()), *(() if answer.recommended else fields.get("profile", ()))}
    nobody = fields.get("exclude") == ()
    found = (
        one.without(answer.keep)
        for one in advice
        if one.column not in idle and not (nobody and one.field == "exclude") and not one.followed(spec)
    )
    return [one for one in found if one is not None]


def _kept(spec: DataSpec, advice: Sequence[Advice], keep: Pairs, voice: Voice) -> DataSpec:
    """The spec without what is to be kept of it."""
    items = [(str(spec.item), one) for one in spec.filters.items]
    raters = [(str(spec.rater), one) for one in spec.filters.raters]
    known = (*spec.filters.drop, *items, *raters, *(pair for one in advice for pair in one.pairs))
    needless = [pair for pair in keep if pair not in known]
    if needless:
        named = ", ".join(f"{column}={value}" for column, value in dict.fromkeys(known)) or "nothing"
        raise SpecError(
            f"{voice.condition('keep', *needless[0])}: such annotations are not left out; "
            f"left out by their values, or recommended to be: {named}"
        )
    filters = replace(
        spec.filters,
        drop=tuple(pair for pair in spec.filters.drop if pair not in keep),
        items=tuple(pair[1] for pair in items if pair not in keep),
        raters=tuple(pair[1] for pair in raters if pair not in keep),
    )
    return replace(spec, filters=filters)


def _again(advice: Sequence[Advice], taken: Sequence[Advice], voice: Voice) -> str:
    sure = [one for one in taken if one.recommended]
    kept = [pair for one in advice if one.recommended and one not in taken for pair in one.pairs]
    named = [text for one in taken if not one.recommended for text in one.values]
    return " ".join(
        [
            voice.value("recommended", bool(sure)),
            *(voice.condition("keep", *pair) for pair in (kept if sure else ())),
            *(voice.value("missing", text) for text in named),
        ]
    )
