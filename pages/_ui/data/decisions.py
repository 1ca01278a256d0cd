"""Questions on Data before any run: which raters and rows count, how labels rank, what to leave out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from grasp_core.model.data_spec import SCREENS, DataSpec, Filters, Repeated, Screen
from grasp_core.model.errors import DataError, Problem, SpecError
from grasp_core.model.groups import axis_label, one_line
from grasp_core.model.spec import Level
from grasp_core.model.text import escape_markdown
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.dataset.raters import MAX_AXIS_VALUES
from grasp_core.reading.dataset.votes import cell_columns
from grasp_core.reading.guess.advice import Advice, mending
from grasp_core.reading.guess.recognise import Guess
from grasp_core.reading.table.table import Table
from grasp_core.report.account import account_sentence, unused_sentence
from grasp_core.report.words.levels import known_scale, left_out, proposed_levels
from grasp_core.store.runs import RunRecord
from pages._ui.data.columns import advice_key, found_labels, labels_key
from pages._ui.helpers import widgets as ui
from pages._ui.helpers.screens import for_pages
from pages._ui.helpers.state import Loaded, work

_ROWS = {True: "Leave out", False: "Keep"}
_CELLS = {True: "No answer", False: "A label"}
_GROUPS = {True: "No answer", False: "A group"}
_ALIKE = {True: "The same", False: "Different"}
_RANKS = {True: "They rank so", False: "No order"}
_BLANK = {True: "Leave out", False: "Mend the file"}
_REPEATED = {True: "Last counts", False: "First counts"}
_NUMBERS = {True: "Ordered numbers", False: "Only names"}


def decide(spec: DataSpec, guess: Guess) -> Dataset | None:
    """Ask about everything that may not be meant to count; answers are kept for other files too.

    Returns the data set under the answers so far, which is analysed once no question is open; None if a
    listed problem prevents the reading.
    """
    session, open_ = work(), list[str]()
    session.asked = {}
    for one in (one for one in guess.advice if _concerns(one, spec, guess)):
        answer = _ask(one)
        if answer is None:
            open_.append(one.what)
        elif answer:
            spec = one.taken(spec)
    spec, session.level = _rank(spec)
    spec, loaded = _without_stops(spec, guess, open_)
    session.open = tuple(open_)
    if loaded is None or open_:
        session.use_dataset(None, None)
    elif session.dataset is not loaded[0]:
        session.use_dataset(*loaded)
    return None if loaded is None else loaded[0]


def answer_as(run: RunRecord) -> None:
    """Restore the answers of a run whose files are in use as it read them; it declined the advice left."""
    session = work()
    advice = () if session.guess is None else session.guess.advice
    ranked = run.spec.analysis.level != "nominal"
    of_labels = dict.fromkeys((labels_key(kind, run.summary.categories) for kind in _KINDS), ranked)
    session.answers = {**of_labels, **{advice_key(one): False for one in advice}}


def answers_to_keep() -> dict[str, bool]:
    """Return the answers on the page, except those that name single raters or items."""
    session = work()
    if session.guess is None:
        return {}
    ids = {session.guess.spec.item, session.guess.spec.rater}
    single = {
        advice_key(one)
        for one in session.guess.advice
        if one.field in ("raters", "items") or (one.field == "drop" and one.column in ids)
    }
    asked = session.asked.items()
    return {key: answer for key, answer in asked if answer is not None and key not in single}


def _without_stops(spec: DataSpec, guess: Guess, open_: list[str]) -> tuple[DataSpec, Loaded | None]:
    """Ask about rows that prevent the reading; return the spec without them, and the files read so."""
    session = work()
    refusals, session.refusals = session.refusals, {}
    while problems := refusals.get(spec) or _refused(spec):
        session.refusals[spec] = problems
        one = mending(problems, spec)
        answer, mended = None, spec
        if one is not None:
            with st.container(border=True):
                answer, mended = _mended(one, spec, guess)
        if one is None or (answer is False and one.blank):
            st.write("No analysis can run until this is mended, here or in the file.")
            list_problems(problems)
            return spec, None
        if answer is None:
            open_.append(one.what)
        spec = mended
    return spec, session.shown


def _refused(spec: DataSpec) -> tuple[Problem, ...]:
    """Return why the files cannot be read under a spec; if they can, the session shows them."""
    session = work()
    if session.shown is None or session.shown[1] != spec:
        try:
            session.shown = session.load(spec)
        except DataError as error:
            session.shown = None
            return error.problems
    return ()


def _mended(one: Advice, spec: DataSpec, guess: Guess) -> tuple[bool | None, DataSpec]:
    """Return an answer on rows that prevent the reading, and the spec without them, by default as advised.

    A column of times may decide which of several answers came first.
    """
    session, order = work(), None
    if one.field == "repeated" and guess.spec.repeated != "refuse":  # as such files were read before
        session.answers.setdefault(advice_key(one), guess.spec.repeated == "last")
    answer = _ask(one, border=False)
    if one.field != "repeated":
        return answer, one.taken(spec)
    if answer is not None and spec.layout == "long" and session.annotations is not None:
        taken = {spec.item, spec.rater, *spec.labels}
        free = [name for name in session.annotations.columns if name not in taken]
        looks = {"placeholder": "The order of rows", "width": 320, **ui.for_visit(session.key("order"))}
        order = ui.choose_one("Which came first is told by", free, guess.spec.order, **looks)
    which: Repeated = "first" if answer is False else "last"
    if session.chosen is not None:
        session.chosen = replace(session.chosen, repeated=which, order=order)
    return answer, replace(spec, repeated=which, order=order)


def _ask(one: Advice, *, border: bool = True) -> bool | None:
    what, alike = f"{one.what[0].upper()}{one.what[1:]}:", one.field == "alike"
    if one.blank:
        answers = _BLANK
    elif one.field == "repeated":
        answers = _REPEATED
    else:
        answers = _ALIKE if alike else _GROUPS if one.group else _CELLS if one.field == "missing" else _ROWS
    looks = {"recommended": one.recommended, "pressed": alike, "border": border}  # merging loses no row
    return _answer(what, f"{one.why.rstrip('.')}.", answers, advice_key(one), **looks)


def kept_raters() -> tuple[tuple[str, str], ...]:
    """Return columns and values of raters whom the data mark as not counting, and whom somebody kept."""
    session = work()
    marked = () if session.guess is None else [one for one in session.guess.advice if one.field == "exclude"]
    kept = (one for one in marked if session.answers.get(advice_key(one)) is False)
    return tuple(pair for one in kept for pair in one.pairs)


def _rank(spec: DataSpec) -> tuple[DataSpec, Level]:
    """Return spec and level of labels like ordered numbers or a known scale, as answered or advised."""
    if spec.further:
        return spec, "nominal"
    labels = spec.categories or found_labels(spec, spec)
    proposal = proposed_levels(labels)
    if proposal is not None:
        first, second, last = map(one_line, (labels[0], labels[1], labels[-1]))
        what = f"The labels are the numbers {first} to {last}:"
        why = f"if ordered, {first} is nearer to {second} than to {last}."
        yes = _answer(what, why, _NUMBERS, labels_key("numbers", labels), pressed=True)
        return spec, proposal.levels[0] if yes else "nominal"
    scale = known_scale(labels) if spec.categories is None else None
    if scale is None:
        return spec, "nominal"
    said = f"{' < '.join(map(one_line, scale))}."
    if _answer("The labels look like a scale:", said, _RANKS, labels_key("scale", labels), pressed=True):
        return replace(spec, categories=scale), "ordinal"
    return spec, "nominal"


_KINDS = ("numbers", "scale")
"""Kinds of labels that show an order."""


def _concerns(one: Advice, spec: DataSpec, guess: Guess) -> bool:
    if one.field in ("missing", "alike") and one.followed(spec):
        return False
    if one.field in ("missing", "alike") and (not one.group or one.column in guess.spec.labels):
        return spec.labels == guess.spec.labels
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
    border: bool = True,
) -> bool | None:
    session = work()
    given = session.answers
    with st.container(
        border=border, horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        st.markdown(f"**{escape_markdown(what)}** {for_pages(why)}")
        words = {
            yes: f"{said} (recommended)" if yes and recommended else said for yes, said in answers.items()
        }
        looks = {"default": given.get(key, True if pressed else None), "required": pressed}
        looks |= {"label_visibility": "collapsed", "width": "content", "key": session.key(key)}
        answer = ui.switch(escape_markdown(what.rstrip(":")), words, **looks)
    session.asked[key] = answer
    if answer is None:
        given.pop(key, None)
    else:
        given[key] = answer
    return answer


def list_problems(problems: Sequence[Problem]) -> None:
    """Draw each problem in a box: those that prevent a run, and notes, which prevent none."""
    for problem in problems:
        show = st.error if problem.stops else st.warning
        examples = "; ".join(problem.further_examples)
        shown = f" For example: {examples}." if examples else ""
        said = problem.count < 2 or problem.count in dict(problem.remark.numbers).values()
        count = "" if said else f" ({problem.count:,})"
        icon = ":material/block:" if problem.stops else ":material/info:"
        show(for_pages(f"{problem.message.rstrip('.')}{count}.{shown}"), icon=icon)


def offer_leaving_out(found: Mapping[Screen, int], reading: DataSpec | None) -> None:
    """Draw buttons that leave out raters found by screens, and that take them back in."""
    chosen = () if reading is None else reading.screens
    named = tuple(screen for screen in SCREENS if found.get(screen) and screen not in chosen)
    if named:
        more = (
            "All whom the checks above name; of two who agree too closely one stays. Who is left out is "
            "counted, above and in every result."
        )
        ui.button("Leave these raters out", "person_remove", _choose, "screens", [*chosen, *named], help=more)
    if chosen:
        st.caption(f"Left out: {'; '.join(SCREENS[screen] for screen in chosen)}.")
        ui.button("Take them back in", "undo", _choose, "screens", [])


def _choose(name: str, value: object) -> None:
    st.session_state[work().key(name)] = value


_UP_TO = 12
"""Columns with more values than this are not offered for leaving out by value."""
_ASIDE = ("exclude", "filters")
"""Fields of a spec whose doubts are shown under *Leave out*."""


def choose_exclusions(spec: DataSpec, guess: Guess) -> DataSpec:
    """Return the spec with the raters, items and rows to leave out; incomplete filters are not applied."""
    session = work()
    tables = session.recoded(spec)
    if tables is None:
        return spec
    start = guess.spec.filters
    chosen = left_out(guess.spec)
    doubts = [one for one in guess.reasons if one.field in _ASIDE and one.confidence == "unsure"]
    title = f"Leave out ({len(chosen)})" if chosen else "Leave out"
    with st.expander(title, expanded=bool(doubts) or (bool(chosen) and guess.recipe is None)):
        for doubt in doubts:
            ui.caption(f"Please check: {doubt.sentence}.")
        annotations, raters, _ = tables
        own = {"long": annotations.columns, "raters-by-items": spec.profile}.get(spec.layout, ())
        options = _pairs(annotations, own, spec) + (_pairs(raters, raters.columns, spec) if raters else [])
        exclude = _where("exclude", "Leave out raters where", options, guess.spec.exclude)
        fields: dict[str, Any] = {}
        if spec.layout == "long":
            options = _pairs(annotations, annotations.columns, spec)
            fields["drop"] = _where("drop", "Leave out annotations where", options, start.drop)
        for place, what in zip(st.columns(2), ("raters", "items"), strict=True):
            fewest, value = f"min_per_{what[:-1]}", "\n".join(getattr(start, what))
            label, looks = f"Leave out {what} with fewer annotations than", _kept(f"fewest-{what}")
            fields[fewest] = int(place.number_input(label, 1, value=getattr(start, fewest), **looks))
            looks = {"placeholder": "An id per line", "height": 68, **_kept(f"ids-{what}")}
            written = place.text_area(f"Leave out these {what}", value=value, **looks) or ""
            ids = (line.strip() for line in written.splitlines())
            fields[what] = tuple(dict.fromkeys(filter(None, ids)))
        if spec.layout != "raters-by-items":
            fields |= _by_time(annotations, start) | _by_gold(annotations, spec, start)
        more = "Looked for in what is left after everything else; see Quality below."
        looks = {"format_func": lambda screen: SCREENS[screen].capitalize(), "help": more}
        looks |= {"placeholder": "Nobody is left out", **ui.for_visit(work().key("screens"))}
        screens = ui.several("Leave out by what labels show", SCREENS, guess.spec.screens, **looks)
        spec = replace(spec, screens=screens)
        try:
            return replace(spec, exclude=exclude, filters=Filters(**fields))
        except SpecError as error:
            st.error(escape_markdown(f"Not applied: {error.sentence}."))
            return replace(spec, exclude=exclude)


def _pairs(table: Table, columns: Sequence[str], spec: DataSpec) -> list[tuple[str, str]]:
    taken = {spec.item, spec.rater, *spec.labels}
    pairs: list[tuple[str, str]] = []
    for column in columns:
        values = () if column in taken else work().distinct(table, column)
        pairs += [(column, value) for value in values] if len(values) <= _UP_TO else []
    return pairs


def _where(
    field: str, label: str, options: Sequence[tuple[str, str]], start: Sequence[tuple[str, str]]
) -> tuple[tuple[str, str], ...]:
    looks: dict[str, Any] = {**_kept(field)}
    before = st.session_state.get(looks["key"], ())  # a value that was recoded since stays chosen
    looks["format_func"] = lambda pair: f"{pair[0]} = {pair[1] or '(empty cell)'}"
    return ui.several(label, [*start, *before, *options], start, placeholder="Nothing is left out", **looks)


def _by_time(table: Table, start: Filters) -> dict[str, Any]:
    column, low, high = st.columns(3)
    with column:
        time = _optional("Time an annotation took", "time", table.columns, start.time)
    if time is None:
        return {}
    least = low.number_input("At least", value=start.min_time, **_kept("min-time"))
    most = high.number_input("At most", value=start.max_time, **_kept("max-time"))
    if least is None and most is None:
        return {}
    return {"time": time, "min_time": least, "max_time": most}


def _by_gold(table: Table, spec: DataSpec, start: Filters) -> dict[str, Any]:
    column, share, _ = st.columns(3)
    able = [name for name in table.columns if len(work().distinct(table, name)) <= MAX_AXIS_VALUES]
    options = [name for name in able if name not in (spec.item, spec.rater, *cell_columns(table, spec)[:1])]
    with column:
        gold = _optional("Right label, where experts gave one", "gold", options, start.gold)
    if gold is None:
        return {}
    label, looks = "Leave out raters right less often than", {"format": "percent", **_kept("min-gold")}
    least = share.slider(label, 0.0, 1.0, start.min_gold or 0.5, 0.05, **looks)
    return {"gold": gold, "min_gold": least}


def _optional(label: str, field: str, options: Sequence[str], start: str | None) -> str | None:
    return ui.choose_one(label, options, start, **_kept(field), placeholder="Not used")


def show_account(dataset: Dataset, proposed: Sequence[str]) -> None:
    """Draw the account of everything read, and how much each filter removed, also by group."""
    account = dataset.summary.account
    if account is not None:  # everything read: what counts, and what was left out by reason
        ui.caption(f"{account_sentence(account)}.")
        unused = unused_sentence(account)
        if unused:
            ui.caption(f"{unused[0].upper()}{unused[1:]}.")
    removals = [removal for removal in dataset.removals if removal.annotations]
    if not removals:
        return
    st.subheader("What was left out")
    counted = ["Annotations", "Raters", "Items"]
    rows = [(str(one.filter), one.annotations, one.raters, one.items) for one in removals]
    heads = dict.fromkeys(counted, st.column_config.NumberColumn(format="localized"))
    removed, alt = pd.DataFrame(rows, columns=["Left out", *counted]), "removed by each filter"
    ui.show_table(removed, f"Annotations, raters and items {alt}", height="content", column_config=heads)
    names = list(removals[0].groups)
    if not names:
        return
    first = [name for name in proposed if name in names] or names
    labels = {name: axis_label((name,)) for name in names}
    axis = ui.pick("By group", labels, index=names.index(first[0]), key=work().key("out-account"))
    by_group = [
        {
            "Left out": str(removal.filter),
            labels[axis]: "(unknown)" if share.value is None else share.value,
            "Annotations": f"{share.removed_annotations:,} of {share.annotations:,}",
            "Share": f"{share.removed_annotations / max(share.annotations, 1):.1%}",
            "Raters": f"{share.removed_raters:,} of {share.raters:,}",
        }
        for removal in removals
        for share in removal.groups[axis]
    ]
    ui.show_table(pd.DataFrame(by_group), f"What was left out by {labels[axis]}", height="content")
    st.caption("Leaving out is not neutral: compare the shares of the groups.")


def _kept(name: str) -> dict[str, str]:
    return ui.for_visit(work().key(f"out-{name}"))
