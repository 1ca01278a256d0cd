"""Texts in columns about raters that stand for no answer.

Surveys write -99, or 999 beside ages; programs write NA or NULL, and panels CONSENT_REVOKED.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from grasp_core.annotations import number_of
from grasp_core.data_spec import DataSpec
from grasp_core.io.guess.reasons import Reason
from grasp_core.io.guess.values.missing import BEYOND, CODE
from grasp_core.io.table.table import Table
from grasp_core.wording import listed, quoted

_WRITTEN = frozenset({"na", "<na>", "n/a", "#n/a", "nan", "nat", "null", "consent_revoked", "data_expired"})
"""Texts that stand for no value in a column about raters; not "None", which is an answer about religion."""
_CODE_OF_PLACE = re.compile("[A-Z]{2,3}")


def missing_profiles(
    tables: Sequence[Table], spec: DataSpec, labels: Collection[str], axes: Mapping[str, Sequence[str]]
) -> tuple[DataSpec, list[Reason]]:
    """The reading with what stands for no answer among raters' values as texts that mean "no value", and why.

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
    known = set(spec.missing)
    codes = {name: _codes(texts) - known for name, texts in axes.items()}
    words = {name: _words(texts) - known for name, texts in axes.items()}
    places = {name: _places(texts) & words[name] for name, texts in axes.items()}
    none = {name: (codes[name] | words[name]) - places[name] for name in axes}
    reasons = [_asked(text, name) for name, texts in places.items() for text in sorted(texts)]
    values = {text for name, texts in axes.items() for text in texts if text not in none[name]}
    able = {text for found in none.values() for text in found} - values - set(labels)
    if not able:
        return spec, reasons
    able -= {text for table in tables for name in (spec.item, spec.rater) for text in _ids(table, name)}
    for name in axes:
        for own, why in ((codes[name], "as codes of surveys do"), (words[name], "as programs write it")):
            if texts := sorted(own & none[name] & able):
                said = f"{listed(texts)} in {quoted(name)} stands for no answer, {why}"
                reasons.append(Reason("missing", said))
    missing = dict.fromkeys([*spec.missing, *(text for name in axes for text in sorted(none[name] & able))])
    return replace(spec, missing=tuple(missing)), reasons


def _asked(text: str, name: str) -> Reason:
    said = (
        f"{quoted(text)} in {quoted(name)} stands beside codes of places, so it is a group; if it means no "
        f"value, name it among the cell texts that mean “no value”, or by --missing={text}"
    )
    return Reason("missing", said, "unsure", (name,))


def _words(texts: Sequence[str]) -> set[str]:
    """Words for no value, and blanks, beside at least one value."""
    found = {text for text in texts if text.strip().casefold() in _WRITTEN or not text.strip()}
    return found if len(found) < len(texts) else set()


def _places(texts: Sequence[str]) -> set[str]:
    """What may be the code of a place, such as NA for Namibia, where all others are codes."""
    able = {text for text in texts if _CODE_OF_PLACE.fullmatch(text)}
    others = [text for text in texts if text.strip().casefold() not in _WRITTEN]
    return able if len(others) > 1 and able.issuperset(others) else set()


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
