"""Raters whom a column about them says to leave out, or may say so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from grasp_core.annotations import is_number
from grasp_core.data_spec import DataSpec
from grasp_core.io.guess.advice import Advice
from grasp_core.io.guess.reasons import Reason
from grasp_core.io.table import names
from grasp_core.io.table.table import Table
from grasp_core.wording import number, quoted

_OUT = names.YES | names.word_set("removed excluded rejected discarded dropped")


def guess_exclusions(
    annotations: Table, raters: Table | None, spec: DataSpec, texts: Mapping[str, Sequence[str]]
) -> tuple[list[Advice], list[Reason]]:
    """Raters whom a column says to leave out, as advice; of columns that may mean it, that they may.

    Parameters
    ----------
    annotations, raters : Table
    spec : DataSpec
    texts : mapping from name to texts
        Columns about raters, and the distinct texts in each.
    """
    advice: list[Advice] = []
    reasons: list[Reason] = []
    for name, value in _excluding(texts, names.MAYBE_EXCLUDED, names.MAYBE_KEPT):
        having, of = _raters_with(annotations, raters, spec, name, value)
        reasons.append(_doubted(name, value, f"{having:,} of {number(of, 'rater')}"))
    for name, value in _excluding(texts, names.EXCLUDED, names.KEPT):
        why = _doubt(annotations, raters, spec, name, value, texts[name])
        if why is None:
            having, _ = _raters_with(annotations, raters, spec, name, value)
            said = "the column's name says who should not count"
            advice.append(Advice("exclude", name, (value,), said, having))
        else:
            reasons.append(_doubted(name, value, why))
    return advice, reasons


def _doubted(name: str, value: str, why: str) -> Reason:
    said = (
        f"{quoted(name)} = {quoted(value)} ({why}) may say who should not count; nobody is left out, unless "
        f"on Data, under Leave out, or by --exclude {name}={value}"
    )
    return Reason("exclude", said, "unsure", (name,))


def _excluding(
    texts: Mapping[str, Sequence[str]], out: frozenset[str], kept: frozenset[str]
) -> Iterator[tuple[str, str]]:
    for name, some in texts.items():
        for kinds, meant in ((out, _OUT), (kept, names.NO)):
            if names.mentions(name, kinds):
                found = next((text for text in some if text.strip().casefold() in meant), None)
                if found is not None:
                    yield name, found
                break


def _doubt(
    annotations: Table, raters: Table | None, spec: DataSpec, name: str, value: str, texts: Sequence[str]
) -> str | None:
    """Why a value may not be meant so: other numbers beside a 1 or 0 are counts, and most raters no few."""
    others = {text.strip().casefold() for text in texts} - names.YES - names.NO
    if is_number(value) and any(map(is_number, others)):
        return f"one of {number(len(texts), 'value')}, as counts have"
    having, of = _raters_with(annotations, raters, spec, name, value)
    return f"{having:,} of {number(of, 'rater')}, so many" if 2 * having >= of else None


def _raters_with(
    annotations: Table, raters: Table | None, spec: DataSpec, name: str, value: str
) -> tuple[int, int]:
    """How many raters have a value in a column about them, and how many there are."""
    rows = raters if raters is not None and name in raters.columns else annotations
    having = rows.column(name).among([value])
    if rows is raters or spec.layout != "long":
        return int(having.sum()), len(rows)
    ids = annotations.column(str(spec.rater)).codes
    return len(np.unique(ids[having])), len(np.unique(ids))
