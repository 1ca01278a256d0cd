"""Recoding on the Data page: every step previewed with counts before and after."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from grasp_core.model.annotations import display_order, is_number, number_of
from grasp_core.model.data_spec import Bins, Combine, DataSpec, MapValues, Recode, range_labels
from grasp_core.model.errors import DataError
from grasp_core.model.groups import one_line
from grasp_core.model.text import escape_markdown
from grasp_core.reading.dataset.checks import bands
from grasp_core.reading.dataset.raters import MAX_AXIS_VALUES
from grasp_core.reading.dataset.recoding import counts, recode
from grasp_core.reading.table.table import Table
from grasp_core.report.words.levels import NO_VALUE, step_sentence
from pages._ui.helpers.screens import for_pages
from pages._ui.helpers.state import work
from pages._ui.helpers.widgets import button, caption, pick, show_refusal, show_table

_LABELS = "Labels"
_KINDS = ("Change values", "Cut numbers", "Combine questions")
_EMPTY = "(empty cell)"
_MOST_VALUES = 200
"""Columns with more different values are not offered for changing them one by one."""


def choose_recoding(spec: DataSpec) -> bool:
    """Draw the steps so far, each removable, and a form for one more; return whether that is not applied."""
    session = work()
    tables = session.recoded(spec)
    steps = session.recode
    title = f"Recode values ({len(steps)})" if steps else "Recode values"
    with st.expander(title, key=_key("recode"), expanded=bool(steps)):
        st.caption(
            "Merge spellings, treat values as missing, turn ages into ranges, or make one answer from "
            "several questions. The steps are applied in this order and become part of the run."
        )
        for position, step in enumerate(steps):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(escape_markdown(f"{position + 1}. {step_sentence(step)}"))
                looks = {"key": _key(f"remove-{position}"), "type": "tertiary"}
                button(f"Remove step {position + 1}", "close", _remove, position, **looks)
            if isinstance(step, Combine) and step.into not in spec.labels:
                caption(f"To analyse {step.into}, choose it as the label column above.")
        if tables is None:
            st.error("A step cannot be applied, see below; remove it to go on.")
            return False
        kind = st.segmented_control("Add a step", _KINDS, key=_key("kind"))
        if kind == "Change values":
            return _change_values(tables, spec)
        if kind == "Cut numbers":
            return _cut_numbers(tables, spec)
        return kind == "Combine questions" and _combine(tables[0], spec)


def offer_ranges(column: str, spec: DataSpec) -> None:
    """Draw a button that cuts the numbers of a column into three ranges; nothing if they cannot be cut."""
    session = work()
    tables = [one for one in session.recoded(spec) or () if one is not None and column in one.columns]
    values = (
        [text for text in session.distinct(tables[0], column) if text not in spec.missing] if tables else []
    )
    edges = bands(values, 3)  # more than three numbers
    if edges is None:
        return
    at = tuple(map(number_of, edges.split(",")))
    step = Bins(column, at, range_labels(at))
    label = escape_markdown(f"Cut {one_line(column)} into {', '.join(step.labels)}")
    button(label, "content_cut", add_step, step, key=_key(f"ranges-{column}"))


def _change_values(tables: Sequence[Table | None], spec: DataSpec) -> bool:
    column = _column(tables, spec, numeric=False)
    if column is None:
        return False
    name = column or None
    found = counts(tables, name, spec)
    proposed = _proposals(found)
    rows = [(value or _EMPTY, n, proposed.get(value, value) or _EMPTY) for value, n in found.items()]
    st.caption(f"Type what a value becomes; “{NO_VALUE}” or nothing treats it as missing.")
    edited = st.data_editor(
        pd.DataFrame(rows, columns=["Value", "Cells", "Becomes"]),
        hide_index=True,
        disabled=["Value", "Cells"],
        key=_key(f"values-{name}-{len(work().recode)}-{sorted(proposed.items())}"),
    )
    becomes = zip(found, map(_becomes, edited["Becomes"]), strict=True)
    values = tuple((old, new) for old, new in becomes if new != old)
    return bool(values) and _offer(MapValues(name, values), tables, spec, [name])


def _remove(position: int) -> None:
    session = work()
    session.recode = (*session.recode[:position], *session.recode[position + 1 :])


def add_step(step: Recode) -> None:
    """Apply one more step; a callback."""
    session = work()
    session.recode = (*session.recode, step)
    st.session_state[_key("kind")] = None  # closes the form, which has been applied


def _offer(
    step: Recode, tables: Sequence[Table | None], spec: DataSpec, columns: Sequence[str | None]
) -> bool:
    """Show the step's effect, and the button that applies it; return whether it can be applied."""
    try:
        *changed, problems = recode(tables[0], tables[1], replace(spec, recode=(step,)), tables[2])
    except DataError as error:
        st.error(for_pages(str(error)))
        return False
    st.button("Apply", type="primary", key=_key("apply"), on_click=add_step, args=(step,))
    into = step.into if isinstance(step, Combine) else step.column
    sides = (("Before", tables, columns), ("After", changed, [into]))
    for place, (side, read, names) in zip(st.columns(2), sides, strict=True):
        with place:
            st.caption(side)
            for name in names:
                _show_counts(counts(read, name, spec), name or _LABELS)
    for problem in problems:
        caption(problem.message)
    return True


def _show_counts(found: Mapping[str, int], column: str) -> None:
    ordered = sorted(found, key=lambda value: (-found[value], display_order(value)))
    shown = [value or _EMPTY for value in ordered]
    frame = pd.DataFrame({column: shown, "Cells": [found[value] for value in ordered]})
    show_table(frame, f"Cells per value of {column}", height="content" if len(frame) < 12 else 420)


def _becomes(cell: object) -> str:
    text = "" if cell is None or cell != cell else str(cell)
    return "" if text in (_EMPTY, NO_VALUE) else text


def _proposals(found: Mapping[str, int]) -> dict[str, str]:
    proposed, spelling = {}, one_spelling(found)
    if spelling:
        pairs = ", ".join(f"{old!r} → {new!r}" for old, new in list(spelling.items())[:4])
        if st.checkbox(escape_markdown(f"Fill in one spelling each: {pairs}"), key=_key("spelling")):
            proposed = spelling
    label = f"Fill in “{OTHER}” for values with fewer cells than"
    fewest = st.number_input(label, min_value=0, value=0, key=_key("rare"))
    rare = merge_rare(found, int(fewest))
    if fewest and not rare:
        st.caption("Nothing to fill in: that would be fewer than two of the values, or all of them.")
    return {**rare, **proposed}


def _cut_numbers(tables: Sequence[Table | None], spec: DataSpec) -> bool:
    column = _column(tables, spec, numeric=True)
    if column is None:
        return False
    more = "Each number begins a range: 25 belongs to 25-39."
    written = st.text_input("Cut at", placeholder="25, 40, 60", key=_key("edges"), help=more)
    edges = [number_of(part) for part in written.replace(";", ",").split(",") if part.strip()]
    if not edges or any(edge != edge for edge in edges):
        st.caption("Write the numbers at which a new range begins, separated by commas.")
        return False
    names, key = ", ".join(range_labels(sorted(edges))), _key(f"names-{written}")
    named = st.text_input("Names of the ranges", value=names, key=key)
    labels = tuple(part.strip() for part in named.split(",") if part.strip())
    name = column or None
    with show_refusal():
        return _offer(Bins(name, tuple(edges), labels), tables, spec, [name])
    return False


def _combine(table: Table, spec: DataSpec) -> bool:
    chosen = st.multiselect("Questions", table.columns, key=_key("questions"))
    if len(chosen) < 2:
        st.caption("Choose the columns of two or more questions.")
        return False
    found = {value for name in chosen for value in table.distinct(name)} - set(spec.missing)
    if len(found) > _MOST_VALUES:
        st.error(f"These columns hold {len(found):,} different values; choose questions with few answers.")
        return False
    more = "E.g. Unsafe, Unsure, Safe: any Unsafe, else any Unsure, else Safe."
    label, key = "The first of these that any question has", _key(f"order-{sorted(found)}")
    order = st.multiselect(label, sorted(found, key=display_order), key=key, help=more)
    into = st.text_input("Name of the new column", value="combined", key=_key("into"))
    if set(order) != found:
        left = ", ".join(sorted(found - set(order)))
        caption(f"Put all values in order; still without a place: {left}")
        return False
    with show_refusal():
        return _offer(Combine(tuple(chosen), tuple(order), into.strip()), (table, None, None), spec, chosen)
    return False


def _column(tables: Sequence[Table | None], spec: DataSpec, *, numeric: bool) -> str | None:
    """Choose the column to recode: of raters or items, or "" for the labels, a name that no column has."""
    ids = {spec.item, spec.rater, *spec.labels, spec.text, spec.items_id}
    named = ((table, name) for table in tables if table is not None for name in table.columns)
    columns = [name for table, name in named if name not in ids and _offered(table, name, numeric=numeric)]
    words = {"": _LABELS, **{name: name for name in columns}}
    words |= {_LABELS: f"{_LABELS} (a column)"} if _LABELS in columns else {}
    looks = {"placeholder": "Choose a column", "key": _key(f"column-{numeric}")}
    return pick("Column to recode", words, index=None, **looks)


def _offered(table: Table, name: str, *, numeric: bool) -> bool:
    values = work().distinct(table, name)
    if not numeric:
        return 1 < len(values) <= max(_MOST_VALUES, MAX_AXIS_VALUES)
    numbers = sum(map(is_number, values[:_MOST_VALUES]))
    return numbers > 0.5 * len(values[:_MOST_VALUES])


def _key(name: str) -> str:
    return work().key(f"recoding-{name}")


# Proposals

_WRITTEN_MANY_WAYS = (
    ("Woman", {"f", "female", "w", "woman", "women", "girl"}),
    ("Man", {"m", "male", "man", "men", "boy"}),
    ("Nonbinary", {"nonbinary", "non-binary", "non binary", "nb", "enby"}),
    ("Yes", {"y", "yes"}),
    ("No", {"n", "no"}),
)
"""Words with the same meaning; proposed only if at least two of them occur."""
OTHER = "Other"


def one_spelling(counts: Mapping[str, int]) -> dict[str, str]:
    """Return new values for those that differ only by case, spaces, Unicode form or a short form."""
    alike: dict[str, list[str]] = {}
    for value in counts:
        if value.strip():
            folded = " ".join(unicodedata.normalize("NFKC", value).casefold().split())
            meaning = next((word for word, ways in _WRITTEN_MANY_WAYS if folded in ways), folded)
            alike.setdefault(meaning, []).append(value)
    changes: dict[str, str] = {}
    for values in alike.values():
        best = max(values, key=lambda value: (counts[value], len(value.strip()), value))
        tidy = " ".join(unicodedata.normalize("NFC", best).split())
        if len(values) > 1 or tidy != best:
            changes.update({value: tidy for value in values if value != tidy})
    return changes


def merge_rare(counts: Mapping[str, int], fewer_than: int) -> dict[str, str]:
    """Merge all values with too few cells into one; none if that would merge everything or a single value."""
    rare = [value for value, count in counts.items() if count < fewer_than and value.strip()]
    if len(rare) < 2 or len(rare) == len(counts):
        return {}
    return {value: OTHER for value in rare if value != OTHER}
