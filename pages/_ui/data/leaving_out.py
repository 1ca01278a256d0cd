"""Rows and raters that are left out: by values, ids, times, gold and screens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from grasp_core.model.data_spec import SCREENS, DataSpec, Filters, Screen
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import axis_label
from grasp_core.model.text import escape_markdown
from grasp_core.reading.dataset.filters import Removal
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.dataset.raters import MAX_AXIS_VALUES
from grasp_core.reading.dataset.votes import cell_columns
from grasp_core.reading.guess.recognise import Guess
from grasp_core.reading.table.table import Table
from grasp_core.report.account import account_sentence, unused_sentence
from grasp_core.report.words.levels import left_out
from pages._ui.data.decisions import choose_repeated
from pages._ui.helpers.state import work
from pages._ui.helpers.widgets import choose_one, for_visit, show_table


def choose_screens(start: tuple[Screen, ...]) -> tuple[Screen, ...]:
    """The screens whose raters are left out."""
    chosen = st.multiselect(
        "Leave out by what labels show",
        list(SCREENS),
        default=list(start),
        format_func=lambda screen: SCREENS[screen].capitalize(),
        placeholder="Nobody is left out",
        help="Looked for in what is left after everything else; see Quality below.",
        **for_visit(_key()),
    )
    return tuple(chosen)


def offer_leaving_out(found: Mapping[Screen, int], reading: DataSpec | None) -> None:
    """Buttons that leave out whom screens have found, and that take them back in."""
    chosen = () if reading is None else reading.screens
    named = tuple(screen for screen in SCREENS if found.get(screen) and screen not in chosen)
    if named:
        st.button(
            "Leave these raters out",
            icon=":material/person_remove:",
            on_click=_choose,
            args=((*chosen, *named),),
            help="All whom the checks above name; of two who agree too closely one stays. Who is left out is "
            "counted, above and in every result.",
        )
    if chosen:
        st.caption(f"Left out: {'; '.join(SCREENS[screen] for screen in chosen)}.")
        st.button("Take them back in", icon=":material/undo:", on_click=_choose, args=((),))


def _choose(screens: tuple[Screen, ...]) -> None:
    st.session_state[_key()] = list(screens)


def _key() -> str:
    return work().key("screens")


_UP_TO = 12
"""Columns with more values than this are not offered for leaving out by value."""
_ASIDE = ("exclude", "filters")
"""Fields of a spec of which it is said what may be left out, too."""


def choose_exclusions(spec: DataSpec, guess: Guess) -> DataSpec:
    """The spec with what is to be left out; the spec as it is while a choice is incomplete."""
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
            st.caption(escape_markdown(f"Please check: {doubt.sentence}."))
        annotations, raters, _ = tables
        own = {"long": annotations.columns, "raters-by-items": spec.profile}.get(spec.layout, ())
        options = _pairs(annotations, own, spec) + (_pairs(raters, raters.columns, spec) if raters else [])
        exclude = _where("exclude", "Leave out raters where", options, guess.spec.exclude)
        fields: dict[str, Any] = {"drop": _annotations_where(tables[0], spec, start)}
        left, right = st.columns(2)
        with left:
            fields["min_per_rater"] = _fewest("raters", start.min_per_rater)
            fields["raters"] = _ids("raters", start.raters)
        with right:
            fields["min_per_item"] = _fewest("items", start.min_per_item)
            fields["items"] = _ids("items", start.items)
        if spec.layout != "raters-by-items":
            fields |= _by_time(tables[0], start) | _by_gold(tables[0], spec, start)
        spec = choose_repeated(tables[0], spec, guess)
        spec = replace(spec, screens=choose_screens(guess.spec.screens))
        try:
            return replace(spec, exclude=exclude, filters=Filters(**fields))
        except SpecError as error:
            st.error(escape_markdown(f"Not applied: {error.sentence}."))
            return replace(spec, exclude=exclude)


def _annotations_where(table: Table, spec: DataSpec, start: Filters) -> tuple[tuple[str, str], ...]:
    if spec.layout != "long":
        return ()
    ids = [(name, "") for name in (spec.item, spec.rater) if name and "" in work().distinct(table, name)]
    options = [*ids, *_pairs(table, table.columns, spec)]
    return _where("drop", "Leave out annotations where", options, start.drop)


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
    chosen_before = st.session_state.get(_kept(field), ())  # a value that was recoded since is kept, and told
    chosen = st.multiselect(
        label,
        list(dict.fromkeys([*start, *chosen_before, *options])),
        default=list(start),
        format_func=lambda pair: f"{pair[0]} = {pair[1] or '(empty cell)'}",
        placeholder="Nothing is left out",
        **for_visit(_kept(field)),
    )
    return tuple(chosen)


def _fewest(what: str, start: int) -> int:
    return int(
        st.number_input(
            f"Leave out {what} with fewer annotations than",
            min_value=1,
            value=start,
            **for_visit(_kept(f"fewest-{what}")),
        )
    )


def _ids(what: str, start: Sequence[str]) -> tuple[str, ...]:
    written = st.text_area(
        f"Leave out these {what}",
        value="\n".join(start),
        placeholder="An id per line",
        height=68,
        **for_visit(_kept(f"ids-{what}")),
    )
    return tuple(dict.fromkeys(line.strip() for line in (written or "").splitlines() if line.strip()))


def _by_time(table: Table, start: Filters) -> dict[str, Any]:
    column, low, high = st.columns(3)
    with column:
        time = _optional("Time an annotation took", "time", table.columns, start.time)
    if time is None:
        return {}
    least = low.number_input("At least", value=start.min_time, **for_visit(_kept("min-time")))
    most = high.number_input("At most", value=start.max_time, **for_visit(_kept("max-time")))
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
    least = share.slider(
        "Leave out raters right less often than",
        0.0,
        1.0,
        start.min_gold or 0.5,
        0.05,
        format="percent",
        **for_visit(_kept("min-gold")),
    )
    return {"gold": gold, "min_gold": least}


def _optional(label: str, field: str, options: Sequence[str], start: str | None) -> str | None:
    return choose_one(label, options, start, key=_kept(field), placeholder="Not used")


def show_account(dataset: Dataset, proposed: Sequence[str]) -> None:
    """The account of all that was read; what each filter removed, and how much of each group."""
    _show_whole(dataset)
    removals = [removal for removal in dataset.removals if removal.annotations]
    if not removals:
        return
    st.subheader("What was left out")
    show_table(
        pd.DataFrame(
            [(str(one.filter), one.annotations, one.raters, one.items) for one in removals],
            columns=["Left out", "Annotations", "Raters", "Items"],
        ),
        "Annotations, raters and items removed by each filter",
        height="content",
        column_config={
            name: st.column_config.NumberColumn(format="localized")
            for name in ("Annotations", "Raters", "Items")
        },
    )
    names = list(removals[0].groups)
    first = [name for name in proposed if name in names] or names
    if not names:
        return
    axis = st.selectbox(
        "By group",
        names,
        index=names.index(first[0]),
        format_func=lambda name: axis_label((name,)),
        key=_kept("account"),
    )
    show_table(_by_group(removals, axis), f"What was left out by {axis_label((axis,))}", height="content")
    st.caption("Leaving out is not neutral: compare the shares of the groups.")


def _show_whole(dataset: Dataset) -> None:
    """Everything read, as what counts and what was left out, by reason."""
    account = dataset.summary.account
    if account is None:
        return
    st.caption(escape_markdown(f"{account_sentence(account)}."))
    unused = unused_sentence(account)
    if unused:
        st.caption(escape_markdown(f"{unused[0].upper()}{unused[1:]}."))


def _by_group(removals: Sequence[Removal], axis: str) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "Left out": str(removal.filter),
                axis_label((axis,)): "(unknown)" if share.value is None else share.value,
                "Annotations": f"{share.removed_annotations:,} of {share.annotations:,}",
                "Share": f"{share.removed_annotations / max(share.annotations, 1):.1%}",
                "Raters": f"{share.removed_raters:,} of {share.raters:,}",
            }
            for removal in removals
            for share in removal.groups[axis]
        ]
    )


def _kept(name: str) -> str:
    return work().key(f"out-{name}")
