"""Questions that Data asks before anything runs: who counts, what is an answer, how labels rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import streamlit as st

from grasp_core.model.data_spec import DataSpec, Repeated
from grasp_core.model.errors import DataError, Problem
from grasp_core.model.groups import one_line
from grasp_core.model.spec import Level
from grasp_core.model.text import escape_markdown
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.dataset.votes import cell_columns
from grasp_core.reading.guess.advice import Advice
from grasp_core.reading.guess.recognise import Guess
from grasp_core.reading.table.table import Table
from grasp_core.report.words.levels import known_scale, proposed_levels
from pages._ui.data.columns import found_labels
from pages._ui.helpers.state import work
from pages._ui.helpers.widgets import choose_one, for_visit

_WORDS = {"refuse": "Refuse the file", "first": "The first answer counts", "last": "The last answer counts"}


def choose_repeated(table: Table, spec: DataSpec, guess: Guess) -> DataSpec:
    """The spec with what becomes of different labels that one rater gives one item."""
    left, right = st.columns(2)
    options = list(get_args(Repeated))
    with left:
        repeated = st.selectbox(
            "A rater answers an item twice, differently",
            options,
            index=options.index(guess.spec.repeated),
            format_func=_WORDS.__getitem__,
            **for_visit(work().key("repeated")),
            help="Equal answers count once. What is left out is shown by group below.",
        )
    if repeated == "refuse":
        return spec
    taken = {spec.item, spec.rater, *spec.labels}
    if spec.layout != "long":
        taken |= set(cell_columns(table, spec)) - {guess.spec.order}
    with right:
        order = choose_one(
            "Time that tells which",
            [name for name in table.columns if name not in taken],
            guess.spec.order,
            key=work().key("order"),
            placeholder="The order of rows",
        )
    return replace(spec, repeated=repeated, order=order)


def offer_repeated(problems: Sequence[Problem]) -> None:
    """Beside the refusal: buttons that let one of the answers count."""
    if not any(problem.field == "repeated" for problem in problems):
        return
    with st.container(horizontal=True):
        for which in ("first", "last"):
            st.button(
                f"Let the {which} answer count",
                key=f"let-{which}",
                on_click=_let,
                args=(which,),
                help="By the order of rows; “Leave out” above can name a column of times.",
            )


def _let(which: str) -> None:
    st.session_state[work().key("repeated")] = which


_ROWS = {True: "Leave out", False: "Keep"}
_CELLS = {True: "No answer", False: "A label"}
_RANKS = {True: "They rank so", False: "No order"}
_TWO = 2
"""Of two labels either order says the same."""
_NUMBERS = {True: "Ordered numbers", False: "Only names"}


@dataclass(frozen=True)
class Decided:
    """A reading by the answers so far."""

    spec: DataSpec
    open: tuple[str, ...]
    asked: bool


def decide(spec: DataSpec, guess: Guess) -> Decided:
    """Ask of everything that may not be meant to count; what was answered stays answered for other files."""
    open_: list[str] = []
    asked = [one for one in guess.advice if _concerns(one, spec, guess)]
    for one in asked:
        key = _advice_key(one)
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


def _advice_key(one: Advice) -> str:
    return f"advice-{one.field}-{one.column}-{'-'.join(one.values)}"


def kept_raters() -> tuple[tuple[str, str], ...]:
    """Columns and values of raters whom the data mark as not to count, and who were kept."""
    session = work()
    advice = () if session.guess is None else session.guess.advice
    kept = (
        one for one in advice if one.field == "exclude" and session.answers.get(_advice_key(one)) is False
    )
    return tuple(pair for one in kept for pair in one.pairs)


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
    """The answer to one question; None while there is none."""
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


def load_or_list(decided: Decided) -> Dataset | None:
    """The data set by what was decided; where it cannot be formed, every problem that stops it.

    It can be analysed once no question is open.
    """
    session = work()
    if session.annotations is None:
        return None
    session.open = decided.open
    if session.shown is None or session.shown[1] != decided.spec:
        try:
            session.shown = session.load(decided.spec)
        except DataError as error:
            session.shown = None
            session.use_dataset(None, None)
            st.write("No analysis can run until this is mended, here or in the file.")
            list_problems(error.problems)
            offer_repeated(error.problems)
            return None
    dataset, spec, seconds = session.shown
    if decided.open:
        session.use_dataset(None, None)
    elif session.dataset is not dataset:
        session.use_dataset(dataset, spec, seconds)
    return dataset


def list_problems(problems: Sequence[Problem]) -> None:
    """Each in a box: those that stop a run, and notes, which stop none."""
    for problem in problems:
        show = st.error if problem.stops else st.warning
        examples = "; ".join(problem.further_examples)
        shown = f" For example: {examples}." if examples else ""
        said = problem.count < 2 or problem.count in dict(problem.remark.numbers).values()
        count = "" if said else f" ({problem.count:,})"
        icon = ":material/block:" if problem.stops else ":material/info:"
        show(escape_markdown(f"{problem.message.rstrip('.')}{count}.{shown}"), icon=icon)
