"""Numbers that are written in two ways: labels become one, ids are for a person to say."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from grasp_core.data_spec import DataSpec
from grasp_core.io.guess.named import Named
from grasp_core.io.guess.reasons import Reason
from grasp_core.io.table.table import Table
from grasp_core.recode_steps import MapValues
from grasp_core.wording import listed, number, quoted

_NUMBER = re.compile(r"([+-]?(?:0|[1-9]\d*))(?:([.,])(\d+))?")
"""Without leading zeros, which codes have: ``01`` is no other way to write ``1``."""
_ROUNDED = re.compile(r"\d([.,]\d+)?E\+\d{2,3}", re.I)
"""How a spreadsheet writes long numbers, whose last digits are gone then."""
_THOUSANDS = 3


def one_number(
    cells: Mapping[str, int], spec: DataSpec, declared: Collection[str]
) -> tuple[DataSpec, list[Reason]]:
    """The reading in which labels that are one number are one label, and why.

    Parameters
    ----------
    cells : mapping from text to cells
        Of all columns that hold labels.
    spec : DataSpec
        Left as it is where it recodes, or names categories.
    declared : collection of str
        Texts of which somebody has said that they are labels.
    """
    if spec.recode or spec.categories is not None:
        return spec, []
    plain = [text for text in cells if text not in spec.missing and text not in declared]
    changes = {
        text: value
        for value, ways in _alike(plain).items()
        if len(ways) > 1
        for text in ways
        if text != value
    }
    if not changes:
        return spec, []
    shown = listed([f"{text} = {value}" for text, value in changes.items()], 3)
    why = f"one number written in two ways is one label: {shown}"
    step = MapValues(None, tuple(changes.items()))
    return replace(spec, recode=(step,)), [Reason("recode", why)]


def odd_ids(table: Table, spec: DataSpec, named: Named) -> Iterator[Reason]:
    """That ids may be written in two ways, or have lost digits; columns that are named are sure."""
    for field, name in (("item", spec.item), ("rater", spec.rater)):
        if name is None or name not in table.columns or field in named.fields:
            continue
        ids = table.distinct(name)
        rounded = [text for text in ids if _ROUNDED.fullmatch(text.strip())]
        twice = [ways for ways in _alike(ids, whole=True).values() if len(ways) > 1]
        if len(rounded) > 1:
            why = (
                f"{quoted(rounded[0])} is a long number that a spreadsheet has rounded, so that several "
                f"{field}s may have become one; write the ids as text"
            )
            yield Reason(field, why, "unsure", (name,))
        elif twice:
            why = (
                f"{listed(twice[0])} are one number written in two ways, as {number(len(twice), 'id')} "
                "may be; write them alike"
            )
            yield Reason(field, why, "unsure", (name,))


def _alike(texts: Iterable[str], *, whole: bool = False) -> dict[str, list[str]]:
    """The texts of each number, by how it is written shortest; of whole numbers alone, where so asked."""
    found: dict[str, list[str]] = {}
    for text in texts:
        match = _NUMBER.fullmatch(text.strip())
        if match is None:
            continue
        before, sign, after = match[1], match[2], (match[3] or "").rstrip("0")
        if (whole and after) or (sign == "," and len(match[3]) == _THOUSANDS):
            continue
        found.setdefault(f"{before}.{after}" if after else before, []).append(text)
    return found
