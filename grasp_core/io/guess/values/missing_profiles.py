"""Numbers in columns about raters that stand for no answer, as surveys write -99, or 999 beside ages."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from grasp_core.annotations import number_of
from grasp_core.data_spec import DataSpec
from grasp_core.io.guess.reasons import Reason
from grasp_core.io.guess.values.missing import BEYOND, CODE
from grasp_core.io.table.table import Table
from grasp_core.wording import listed, quoted


def missing_profiles(
    tables: Sequence[Table], spec: DataSpec, labels: Collection[str], axes: Mapping[str, Sequence[str]]
) -> tuple[DataSpec, list[Reason]]:
    """The reading with codes for no answer among raters' values as texts that mean "no value", and why.

    Parameters
    ----------
    tables : sequence of Table
        The files; a text that is an id there is none.
    spec : DataSpec
    labels : collection of str
        A text that is a label is none.
    axes : mapping from name to texts
        Columns about raters, and the distinct texts in each; what is a value of one is none in the others.
    """
    codes = {name: _codes(texts) - set(spec.missing) for name, texts in axes.items()}
    values = {text for name, texts in axes.items() for text in texts if text not in codes[name]}
    able = {text for found in codes.values() for text in found} - values - set(labels)
    if not able:
        return spec, []
    able -= {text for table in tables for name in (spec.item, spec.rater) for text in _ids(table, name)}
    found = {name: sorted(own & able) for name, own in codes.items() if own & able}
    reasons = [
        Reason("missing", f"{listed(texts)} in {quoted(name)} stands for no answer, as codes of surveys do")
        for name, texts in found.items()
    ]
    missing = dict.fromkeys([*spec.missing, *(text for texts in found.values() for text in texts)])
    return replace(spec, missing=tuple(missing)), reasons


def _codes(texts: Sequence[str]) -> set[str]:
    """Codes of a survey's form that lie apart from the numbers, or stand among words."""
    of = {text: number_of(text) for text in texts}
    formed = {text for text, value in of.items() if CODE.fullmatch(f"{value:g}")}
    rest = [value for text, value in of.items() if text not in formed]
    numbers = [value for value in rest if not math.isnan(value)]
    if len(rest) < 2 or any(value < 0 for value in numbers):
        return set()
    high = max(numbers, default=0.0)
    return {text for text in formed if of[text] < 0 or of[text] > BEYOND * high}


def _ids(table: Table, name: str | None) -> tuple[str, ...]:
    return table.distinct(name) if name is not None and name in table.columns else ()
