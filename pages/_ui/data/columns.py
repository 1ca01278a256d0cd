"""Columns and their roles; further questions of a file."""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from grasp_core.model.data_spec import WHICH_LABEL, Bins, Combine, DataSpec, Question, one_question
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.groups import one_line
from grasp_core.model.text import escape_markdown, listed, number
from grasp_core.reading.dataset.checks import MAX_CATEGORIES
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.dataset.recoding import in_order, ranges
from grasp_core.reading.dataset.votes import cell_columns, id_columns
from grasp_core.reading.guess.advice import Advice, Named, Reason
from grasp_core.reading.guess.recognise import Guess, question
from grasp_core.reading.table.parsed import ANY
from grasp_core.reading.table.table import Table
from grasp_core.report.words.levels import known_scale
from pages._ui.helpers.screens import for_pages, link_to
from pages._ui.helpers.state import members_of, work
from pages._ui.helpers.widgets import caption, choose_one, for_visit, pick, several, switch


def _choose_further(options: Sequence[str], guessed: Sequence[str], alike: Sequence[str]) -> tuple[str, ...]:
    """Choose label columns of further questions; those in `alike` look like questions too, and come first."""
    more = (
        "They are then analysed together with the first, or one by itself: two raters differ by the share "
        "of questions that they answer differently. Any answer may be missing."
    )
    looks = {"placeholder": "None; choose their label columns", "help": more, **_kept("further")}
    looks["on_change"] = _guess_with_further
    chosen = several(
        "Further questions about the same items (optional)", [*alike, *options], guessed, **looks
    )
    if left := [name for name in alike if name not in chosen]:
        caption(f"These look like further questions: {listed(left)}.")
    return chosen


def _kept(name: str) -> dict[str, str]:
    return for_visit(work().key(name))


def choose_question() -> tuple[Dataset, DataSpec, float] | None:
    """Choose all questions or one; return its data, its spec and the seconds of reading, None on an error."""
    session = work()
    dataset, spec = session.dataset, session.data_spec
    if not spec.further:
        return dataset, spec, session.load_s
    names = dict(enumerate(["All together", *map(one_line, spec.labels)]))
    more = "One answer for all questions together, or for one of them by itself."
    chosen = switch("Questions", names, required=False, **_kept("question"), help=more)
    if not chosen:
        return dataset, spec, session.load_s
    question = spec.questions[chosen - 1]
    if session.apart is None or session.apart[1] != question:
        try:
            session.apart = session.load(question)
        except DataError as error:
            st.error(for_pages(str(error)))
            return None
    return session.apart


def one_question_only(spec: DataSpec) -> bool:
    """Return whether there is only one question; if not, say how to get there."""
    if spec.further:
        said = one_question(spec.labels, WHICH_LABEL)
        st.info(for_pages(f"{said[0].upper()}{said[1:]}."))
        link_to("data", "Go to Data")
    return not spec.further


def free_columns(annotations: Table, spec: DataSpec) -> list[str]:
    """Return columns that may contain one label per item: columns without ids, labels or texts."""
    if spec.layout == "raters-by-items":
        return []
    taken = {*id_columns(spec), *cell_columns(annotations, spec), spec.text}
    return [name for name in annotations.columns if name not in taken]


_LAYOUTS = {
    "long": "One row per annotation",
    "items-by-raters": "One row per item, one column per rater",
    "raters-by-items": "One row per rater, one column per item",
}
_MISSING = ("", "NA", "N/A", "nan", "NaN", "None", "null", "NULL", "-", "?")
_HELP = {"label": "Further questions are named below; one answer is made from several under “Recode values”."}
_ROW_IDS = {"items-by-raters": "item", "raters-by-items": "rater"}
_KNOWN, _LISTED, _EXAMPLES, _LONGEST = 3, 60, 2, 40
_EACH_ROW = ""
"""Choice for a matrix without a column of row ids; no column's name is empty."""
_REFUSED = "answer-refused"
_SAID = {"sure": "Recognised", "likely": "Guessed", "unsure": "Guessed, please check"}


def choose_columns(guess: Guess, heads: DeltaGenerator, more: DeltaGenerator) -> DataSpec | None:
    """Choose the columns' roles; return the spec with the recoding so far, None while it is incomplete."""
    annotations, raters, items = work().tables.values()
    with more:
        asked = _asked(guess, "layout") is not None
        index = None if asked else list(_LAYOUTS).index(guess.spec.layout)
        looks = {"placeholder": "Choose a layout", **_kept("layout"), **_when_answered(guess, "layout")}
        layout = pick("Layout", _LAYOUTS, index=index, **looks)
        if guess.recipe is None:  # otherwise it is said above
            _say_why(guess, "layout")
    of, refused = st.session_state.get(_REFUSED, (None, ""))
    if of == work().generation:
        st.error(for_pages(refused))
    if layout is None:
        return None
    aggregated = _asked(guess, "aggregated")
    if aggregated is not None and not any(isinstance(step, Bins) for step in work().recode):
        st.error(escape_markdown(f"{aggregated.sentence}."))
        return None
    fields: dict[str, Any] = {"layout": layout, "recode": work().recode}
    fields |= members_of(annotations, raters, items)
    shown = _id_fields(layout, annotations, raters)
    with heads:
        for field, label, options in shown:
            with st.container(key=f"role-{field}", gap="xsmall", width=200):
                fields[field] = _column(label, field, options, guess, _HELP.get(field))
                own = field == "rater" and layout == "items-by-raters" and raters is not None
                _cells(raters if own else annotations, fields[field])
        named = layout == "long" or _label_columns(guess)
        _others(annotations, raters, layout, {fields[field] for field, _, _ in shown}, guess)
    with more:
        spec = _choose_more(annotations, items, guess, layout, fields)
        return spec if named else None


def _choose_more(
    annotations: Table, items: Table | None, guess: Guess, layout: str, fields: dict[str, Any]
) -> DataSpec | None:
    if layout == "long":
        guessed, asked = [question.label for question in guess.spec.further], _question(guess, "label")
        alike = [name for name in asked.candidates if name != fields["label"]] if asked else []
        further = _choose_further(_label_options(annotations), guessed, alike)
        fields["further"] = tuple(Question(label) for label in further)
    if layout == "raters-by-items":
        fields["profile"] = _several("profile", "Columns that describe the rater", annotations, guess)
    if layout != "long":
        fields["ignore"] = _several("ignore", "Columns to leave aside", annotations, guess)
    left, right = st.columns(2)
    with left:
        known, start = [*guess.spec.missing, *_MISSING], guess.spec.missing
        more = "Nothing else is taken for missing. Type any other text, such as 999, to add it."
        looks = {"format_func": lambda text: text or "(empty cell)", "accept_new_options": True, "help": more}
        label = "Cell texts that mean “no value”"
        fields["missing"] = several(label, known, start, **looks, **_kept("missing"))
        _say_why(guess, "missing")
    with right:
        fields["text"] = _column("Text of the item (optional)", "text", annotations.columns, guess)
    if items is not None:
        fields["items_id"] = _column("Column of item ids in the items file", "items_id", items.columns, guess)
        if fields["items_id"] is None:
            st.error("Something is still to be chosen: the items file's column of item ids.")
            return None
    if (own := _ROW_IDS.get(layout)) is not None:
        if fields[own] is None:
            st.error(f"Something is still to be chosen: the {own} column, or that each row is one.")
            return None
        fields[own] = fields[own] or None
    if unchosen := [role for role in ("item", "rater", "label") if layout == "long" and not fields.get(role)]:
        st.error(f"Something is still to be chosen: the {' and the '.join(unchosen)} column.")
        return None
    try:
        spec = DataSpec(**fields)
    except SpecError as error:
        st.error(for_pages(f"Something is still to be chosen: {error}."))
        return None
    before = {question.label: question.categories for question in guess.spec.questions}
    before = {spec.label: guess.spec.categories, **before}
    first, *others = (_categories(spec, one, before.get(one.label), guess) for one in spec.questions)
    further = (replace(one, categories=found) for one, found in zip(spec.further, others, strict=True))
    return replace(spec, categories=first, further=tuple(further))


def _others(annotations: Table, raters: Table | None, layout: str, taken: set[Any], guess: Guess) -> None:
    """Draw the other columns: attributes of raters, then columns that have no role."""
    known = [name for name in guess.axes if name not in taken][:_KNOWN]
    for place, name in enumerate(known):
        with st.container(key=f"role-known-{place}", gap="xsmall", width=140):
            st.caption("Of raters")
            st.markdown(f"**{escape_markdown(name)}**")
            _cells(annotations if name in annotations.columns or raters is None else raters, name)
    names = [*annotations.columns, *(() if raters is None else raters.columns)]
    left = list(dict.fromkeys(name for name in names if name not in {*taken, *known}))
    if not left:
        return
    with st.container(key="role-others", gap="xsmall", width=150):
        st.caption("Other columns" if layout == "long" else "Labels and other columns")
        with st.popover(number(len(left), "column"), type="tertiary"):
            st.text(listed(left, _LISTED))
        _cells(annotations, next((name for name in left if name in annotations.columns), None))


def _cells(table: Table, column: str | None) -> None:
    if not column or column not in table.columns:
        return
    for row in range(min(len(table), _EXAMPLES)):
        text = table.cell(column, row)
        shown = f"{text[:_LONGEST]}…" if len(text) > _LONGEST else text
        st.text(shown or "(empty)")


def _id_fields(layout: str, annotations: Table, raters: Table | None) -> list[tuple[str, str, Sequence[str]]]:
    able = annotations.columns if layout == "long" else (_EACH_ROW, *annotations.columns)
    item = ("item", "Item column", able)
    rater = ("rater", "Rater column", able)
    if layout == "long":
        return [item, rater, ("label", "Label column", _label_options(annotations))]
    if layout == "raters-by-items":
        return [rater]
    return [item] if raters is None else [item, ("rater", "Rater column of the raters file", raters.columns)]


def _label_options(annotations: Table) -> tuple[str, ...]:
    made = [step.into for step in work().recode if isinstance(step, Combine)]
    return tuple(dict.fromkeys([*annotations.columns, *made]))


def _column(
    label: str, field: str, options: Sequence[str], guess: Guess, more: str | None = None
) -> str | None:
    guessed = getattr(guess.spec, field)
    asked = _asked(guess, field)
    if (about := _question(guess, field)) is not None:
        options = tuple(dict.fromkeys([*about.candidates, *options]))
    if asked is not None:
        guessed = None
    elif guessed is None and _ROW_IDS.get(guess.spec.layout) == field:
        guessed = _EACH_ROW
    sure = (one for one in guess.reasons if one.field == field and one not in guess.uncertain)
    said = [f"{_SAID[one.confidence]}: {one.sentence}." for one in sure]
    looks = {"placeholder": "Choose a column", **_kept(field), **_when_answered(guess, field)}
    looks["help"] = escape_markdown(" ".join([*said, *([more] if more else [])])) or None
    looks["format_func"] = lambda name: name or f"None: each row is one {field}"
    chosen = choose_one(label, options, guessed, **looks)
    if asked is not None:
        caption(f"Please choose: {question(asked)}")
    return chosen


def _label_columns(guess: Guess) -> bool:
    """Ask which columns of a matrix contain labels, if that is unsure; return whether it is known."""
    about = _question(guess, "label")
    if about is None:
        return True
    said = work().named.label
    with st.container(key="role-label", gap="xsmall", width=300):
        options = list(dict.fromkeys([*about.candidates, *filter(None, [said])]))
        more = f"A “{ANY}” stands for anything; type a pattern of your own where none fits."
        looks = {"placeholder": "Choose", "accept_new_options": True, "help": more, **_kept("label")}
        choose_one("Label columns", options, said, **looks, **_when_answered(guess, "label"))
        if _asked(guess, "label") is not None:
            caption(f"Please choose: {question(about)}")
    return _asked(guess, "label") is None


def _asked(guess: Guess, field: str) -> Reason | None:
    """Return why a person has to choose a field; None if it is guessed."""
    return next((reason for reason in guess.uncertain if reason.field == field), None)


def _question(guess: Guess, field: str) -> Reason | None:
    """Return the same as :func:`_asked`, also for a field that was answered since."""
    return _asked(guess, field) or work().answered.get(field)


def _when_answered(guess: Guess, field: str) -> dict[str, Any]:
    """Return widget arguments that guess the rest anew after an answer, if the field is asked about."""
    known = field in Named.__slots__ and _question(guess, field) is not None
    return {"on_change": _guess_again, "args": (guess,)} if known else {}


def _guess_again(guess: Guess) -> None:
    session = work()
    about = {name: one for name in Named.__slots__ if (one := _question(guess, name)) is not None}
    said = {name: st.session_state.get(session.key(name)) for name in about}
    try:
        session.guess_around(Named.among({name: text or None for name, text in said.items()}), about)
    except DataError as error:
        st.session_state[_REFUSED] = session.generation, str(error)


def _guess_with_further() -> None:
    """Guess anew around the columns chosen so far: each question is judged by its own labels."""
    session = work()
    said = {name: st.session_state.get(session.key(name)) for name in ("layout", "item", "rater", "label")}
    further = st.session_state.get(session.key("further"), ())
    if not all(said.values()):
        return
    with suppress(DataError, SpecError):  # the choices below say what is wrong with them
        session.guess_around(Named.among(said), session.answered, further)


def _several(field: str, label: str, annotations: Table, guess: Guess) -> tuple[str, ...]:
    looks = {"help": "All other columns hold labels.", **_kept(field)}
    chosen = several(label, annotations.columns, getattr(guess.spec, field), **looks)
    _say_why(guess, field)
    return chosen


def _categories(
    spec: DataSpec, question: DataSpec, guessed: tuple[str, ...] | None, guess: Guess
) -> tuple[str, ...] | None:
    """Choose the order of one question's labels; `guessed` is the order declared before."""
    counting, is_first = _without_no_answers(spec, guess), question.label == spec.label
    labels = found_labels(counting, question)
    if not 1 < len(labels) <= MAX_CATEGORIES:
        return guessed
    scale = None if spec.further else known_scale(labels)
    found = scale if scale is not None and answered(labels_key("scale", labels), True) else labels
    declared = tuple(text for text in guessed or () if text not in counting.missing)
    start = declared if set(found) <= set(declared) else found
    of_which = f"Labels of {escape_markdown(one_line(str(question.label)))}" if spec.further else "Labels"
    asked = repr(found if is_first else (question.label, found))  # other labels get another widget
    key = f"categories-{hashlib.sha256(asked.encode()).hexdigest()}"
    more = (
        "The order decides tied votes, and ranks where labels are ordered. Type a label that nobody used to "
        "count it too."
    )
    looks = {"accept_new_options": True, "help": more, **_kept(key)}
    chosen = several(f"{of_which}, in order", [*start, *found], start, **looks)
    said = (
        ("As the scale ranks them. " if found is scale else "Those found, sorted. ") if start == found else ""
    )
    st.caption(f"{said}For another order, remove and choose again.")
    if is_first:
        _say_why(guess, "categories")
    return None if chosen == found else chosen


def _without_no_answers(spec: DataSpec, guess: Guess) -> DataSpec:
    """Return the spec without the label cells that were answered to be no answers, below on the page."""
    for one in guess.advice:
        if one.field == "missing" and not one.group and answered(advice_key(one), False):
            spec = one.taken(spec)
    return spec


def answered(key: str, unless_said: bool) -> bool:
    """Return the answer to a question that the page draws further down."""
    session = work()
    known = session.answers.get(key, unless_said)
    answer = st.session_state.get(session.key(key), known)  # of this rerun, if it was just given
    return bool(answer)


def advice_key(one: Advice) -> str:
    """Name of a question about values that may not be meant to count."""
    either = "-either" if one.field == "repeated" and not one.recommended else ""
    return f"advice-{one.field}-{one.column}-{'-'.join(one.values)}{either}"


def labels_key(kind: str, labels: Sequence[str]) -> str:
    """Name of the question whether these labels rank."""
    return f"{kind}-{'-'.join(labels)}"


def found_labels(spec: DataSpec, question: DataSpec) -> tuple[str, ...]:
    """Return the distinct labels of one question, as recoded, in the order of their ranges or texts."""
    tables = work().recoded(spec)
    if tables is None:
        return ()
    known = [name for name in cell_columns(tables[0], question) if name in tables[0].columns]
    found = {value for name in known for value in work().distinct(tables[0], name)} - set(spec.missing)
    return in_order(found, ranges(spec, None) or ranges(spec, question.label))


def _say_why(guess: Guess, field: str) -> None:
    for reason in guess.reasons:
        if reason.field == field and reason in guess.uncertain:
            names = _LAYOUTS if field == "layout" else {}
            shown = replace(reason, candidates=tuple(names.get(one, one) for one in reason.candidates))
            said = f"Please choose: {question(shown)}"
            caption(said if said.endswith("?") else f"{said}.")
        elif reason.field == field:
            said = f"{_SAID[reason.confidence]}: {reason.sentence}"
            caption(said if said.endswith("?") else f"{said}.")
