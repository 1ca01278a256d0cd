"""Questions that somebody answers before anything runs: who counts, what is an answer, how labels rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import streamlit as st

from grasp_core.data_spec import DataSpec
from grasp_core.io.guess.advice import Advice
from grasp_core.io.guess.recognise import Guess
from grasp_core.report.words.levels import known_scale, proposed_levels
from grasp_core.report.words.names import one_line
from grasp_core.report.words.text import escape_markdown
from grasp_core.spec import Level
from pages._ui.data.columns import found_labels
from pages._ui.session.state import work

_ROWS = {True: "Leave out", False: "Keep"}
_CELLS = {True: "No answer", False: "A label"}
_RANKS = {True: "They rank so", False: "No order"}
_TWO = 2
"""Of two labels either order says the same."""
_NUMBERS = {True: "Ordered numbers", False: "Only names"}


@dataclass(frozen=True)
class Decided:
    """A reading by the answers so far.

    Parameters
    ----------
    spec : DataSpec
        What nobody has answered yet counts.
    open : tuple of str
        The questions without an answer, each in a few words.
    asked : bool
        Whether anything was asked.
    """

    spec: DataSpec
    open: tuple[str, ...]
    asked: bool


def decide(spec: DataSpec, guess: Guess) -> Decided:
    """Ask of everything that may not be meant to count; what was answered stays answered for other files."""
    open_: list[str] = []
    asked = [one for one in guess.advice if _concerns(one, spec, guess)]
    for one in asked:
        key = f"advice-{one.field}-{one.column}-{'-'.join(one.values)}"
        what = f"{one.what[0].upper()}{one.what[1:]}:"
        answers = _CELLS if one.field == "missing" else _ROWS
        answer = _answer(what, f"{one.why}.", answers, key, recommended=one.recommended)
        if answer is None:
            open_.append(one.what)
        elif answer:
            spec = one.taken(spec)
    spec, level = _rank(spec)
    work().level = level or "nominal"
    return Decided(spec, tuple(open_), bool(asked) or level is not None)


def _rank(spec: DataSpec) -> tuple[DataSpec, Level | None]:
    """The level of labels that look like ordered numbers or a known scale, as recommended or answered."""
    if spec.further:
        return spec, None
    labels = spec.categories or found_labels(spec, spec)
    proposal = proposed_levels(labels)
    if proposal is not None:
        what = f"The labels are the numbers {one_line(labels[0])} to {one_line(labels[-1])}:"
        yes = _answer(
            what, "a miss by one is less than a miss by all.", _NUMBERS, _key("numbers", labels), pressed=True
        )
        return spec, proposal.levels[0] if yes else "nominal"
    scale = known_scale(labels) if spec.categories is None and len(labels) > _TWO else None
    if scale is None:
        return spec, None
    said = f"{' < '.join(map(one_line, scale))}."
    if _answer("The labels look like a scale:", said, _RANKS, _key("scale", labels), pressed=True):
        return replace(spec, categories=scale), "ordinal"
    return spec, "nominal"


def _key(what: str, labels: tuple[str, ...]) -> str:
    return f"{what}-{'-'.join(labels)}"


def _concerns(one: Advice, spec: DataSpec, guess: Guess) -> bool:
    """Whether the advice still has a sense under the columns that were chosen."""
    if one.field == "missing":
        return spec.labels == guess.spec.labels and not one.followed(spec)
    if spec.layout != guess.spec.layout or one.column in (*spec.ignore, *spec.labels):
        return False
    return one.field != "raters" or spec.layout != "long" or one.column == spec.rater


def _answer(
    what: str,
    why: str,
    answers: Mapping[bool, str],
    key: str,
    *,
    recommended: bool = True,
    pressed: bool = False,
) -> bool | None:
    """The answer to one question; None while there is none.

    Parameters
    ----------
    pressed : bool
        What is recommended holds until somebody says otherwise: no row goes by it.
    """
    given = work().answers
    with st.container(
        border=True, horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        st.markdown(f"**{escape_markdown(what)}** {escape_markdown(why)}")
        answer = st.segmented_control(
            escape_markdown(what.rstrip(":")),
            list(answers),
            default=given.get(key, True if pressed else None),
            format_func=lambda yes: f"{answers[yes]} (recommended)" if yes and recommended else answers[yes],
            label_visibility="collapsed",
            width="content",
            required=pressed,
            key=key,
        )
    if answer is None:
        given.pop(key, None)
    else:
        given[key] = answer
    return answer
