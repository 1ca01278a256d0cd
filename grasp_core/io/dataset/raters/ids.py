"""Rater ids of a raters file: their column, and the writing by which ids that differ would match."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from grasp_core.data_spec import DataSpec
from grasp_core.errors import DataError
from grasp_core.io.table import names
from grasp_core.io.table.table import Table
from grasp_core.remarks.problems import DataProblem
from grasp_core.remarks.remark import Remark

_DECIMALS = re.compile(r"0*(\d+)(?:\.0+)?")
_LAST_NUMBER = re.compile(r".*?\D0*(\d+)|0*(\d+)", re.DOTALL)


def _number(text: str) -> str:
    found = _DECIMALS.fullmatch(text)
    return text if found is None else found[1]


def _last_number(text: str) -> str:
    found = _LAST_NUMBER.fullmatch(text)
    return text if found is None else found[1] or found[2]


_WAYS: Sequence[tuple[str, Callable[[str], str]]] = (
    ("surrounding spaces", str.strip),
    ("upper and lower case", str.casefold),
    ("how their numbers are written", _number),
    ("spaces, case and how their numbers are written", lambda text: _number(text.strip().casefold())),
    ("what follows the @", lambda text: text.strip().casefold().split("@")[0]),
    ("what stands before their numbers", lambda text: _last_number(text.strip())),
)
"""From what changes least to what changes most."""


@dataclass(frozen=True, slots=True)
class Alike:
    """Ids of a raters file that would be raters of the annotations if they were written alike.

    Parameters
    ----------
    but_for : str
        What differs, in words.
    pairs : tuple of (rater, id)
        As the annotations and as the raters file write it.
    """

    but_for: str
    pairs: tuple[tuple[str, str], ...]


def alike(raters: Iterable[str], ids: Collection[str]) -> Alike | None:
    """The smallest difference in writing that most of two lists of ids have; None where nothing matches."""
    wanted = list(raters)
    best: Alike | None = None
    for but_for, written in _WAYS:
        others: dict[str, list[str]] = {}
        for one in ids:
            others.setdefault(written(one), []).append(one)
        own = [written(rater) for rater in wanted]
        pairs = tuple(
            (rater, others[form][0])
            for rater, form in zip(wanted, own, strict=True)
            if len(others.get(form, ())) == 1
        )
        clear = len({other for _, other in pairs}) == len(pairs)
        if pairs and clear and (best is None or len(pairs) > len(best.pairs)):
            best = Alike(but_for, pairs)
    return best


def rater_column(raters: Table, spec: DataSpec, rater_ids: Sequence[str], annotations_name: str) -> str:
    """The raters file's column of rater ids.

    It is `spec.rater` where the file has that column, and otherwise the column whose values include the
    most rater ids of the annotations (the first one, of several); ages are no ids, for all that they may
    be the same numbers.

    Raises
    ------
    DataError
        If that column holds none of the rater ids; the sentence says how they would match.
    """
    if spec.layout == "raters-by-items" and spec.rater is None:
        raise DataError(DataProblem.NO_RATER_IDS(file=annotations_name, raters=raters.name))
    known = set(rater_ids)
    if spec.rater in raters.columns:
        able = [str(spec.rater)]
    else:
        able = [name for name in raters.columns if not names.mentions(name, names.DEMOGRAPHIC)]
        able = able or list(raters.columns)
    overlap = {name: len(known.intersection(raters.distinct(name))) for name in able}
    best = max(overlap, key=lambda name: overlap[name])
    if not overlap[best]:
        raise _nobody(raters, able, spec.rater in raters.columns, rater_ids, annotations_name)
    return best


def _nobody(
    raters: Table, able: Sequence[str], named: bool, rater_ids: Sequence[str], annotations_name: str
) -> DataError:
    """The error for a raters file without any rater of the annotations."""
    near = {name: found for name in able if (found := alike(rater_ids, raters.distinct(name))) is not None}
    column = max(near, key=lambda name: len(near[name].pairs)) if near else able[0]
    problem = DataProblem.NOBODY_DESCRIBED(
        file=annotations_name,
        ids=tuple(rater_ids),
        named=int(named),
        column=column,
        raters=raters.name,
        example=raters.cell(column, 0),
        advice=_same_ids(rater_ids, raters),
    )
    if not near:
        return DataError(problem)
    found = near[column]
    rater, other = found.pairs[0]
    remark = DataProblem.NOBODY_DESCRIBED_BUT_FOR(
        problem=problem,
        matches=len(found.pairs),
        others=len(rater_ids) - len(found.pairs),
        of=len(rater_ids),
        difference=found.but_for,
        rater=rater,
        other=other,
        column=column,
    )
    return DataError(remark)


def _same_ids(rater_ids: Sequence[str], raters: Table) -> Remark:
    """The way out where two files call raters by different ids."""
    columns = {name: [value for value in raters.distinct(name) if value] for name in raters.columns}
    mailed = next(
        (name for name, values in columns.items() if values and all("@" in one for one in values)), None
    )
    if mailed and all(rater.isdecimal() for rater in rater_ids):
        return DataProblem.IDS_ARE_NUMBERS(raters=raters.name)
    if all("@" in rater for rater in rater_ids):
        return DataProblem.IDS_ARE_ADDRESSES(raters=raters.name)
    return DataProblem.USE_SAME_IDS()
