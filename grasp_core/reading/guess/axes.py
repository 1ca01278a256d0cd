"""The demographic columns that make groups, bands for numbers, and columns that two files have."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from grasp_core.model.annotations import is_number
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.text import listed, number, quoted
from grasp_core.reading.dataset.checks import MOST_NUMBERS, bands
from grasp_core.reading.formats.shapes.rows import MAX_AXES, PROPOSED_AXIS_VALUES
from grasp_core.reading.guess.advice import Reason
from grasp_core.reading.guess.label_columns import most_shared
from grasp_core.reading.guess.look import Look
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import Column
from grasp_core.reading.table.parsed import PLUS
from grasp_core.reading.table.table import Table

_NO_GROUPS = (
    names.RECORDS | names.WRITTEN | names.SECONDARY | names.ROUNDS | (names.TIMES - names.word_set("stage"))
)
"""Words for columns that are not proposed as axes; a stage may be of somebody's life."""


def guess_axes(
    spec: DataSpec, texts: Mapping[str, Sequence[str]], by_name: Container[str]
) -> tuple[tuple[str, ...], list[Reason]]:
    """Return the axes, and why others are none; columns in `by_name` only if their names say so."""
    of_people = names.DEMOGRAPHIC | names.GROUPS
    parts = {part for one in (spec.item, spec.rater) if one is not None for part in one.split(PLUS)}
    excluding = {*parts, *(name for name, _ in (*spec.exclude, *spec.filters.drop))}
    free = [
        name
        for name, values in texts.items()
        if name not in excluding
        and len(values) <= PROPOSED_AXIS_VALUES
        and not names.mentions(name, _NO_GROUPS)
        and not names.says_how_many(name)
        and (name not in by_name or names.mentions(name, of_people))
    ]
    # Of two columns with the same name as an axis, only the first counts.
    called = {_known_as(name): name for name in free[::-1]}
    able = list(called.values())[::-1]
    demographic = [name for name in able if names.mentions(name, names.DEMOGRAPHIC)]
    groups = [name for name in able if name not in demographic and names.mentions(name, names.GROUPS)]
    able = sorted(able[:MAX_AXES], key=lambda name: name not in groups) + able[MAX_AXES:]
    able = [*demographic, *groups] if demographic else able
    chosen, further = able[:MAX_AXES], able[MAX_AXES:]
    more = f"further columns can be axes: {listed(further)}; choose them on Analysis, or by --axis"
    return tuple(chosen), [
        *([Reason("axes", more, "sure")] if further else []),
        *(
            Reason(
                "axes",
                f"{quoted(name)} makes no groups yet: {number(len(values), 'value')} are many; choose it on "
                "Analysis, or by --axis",
                "likely",
                (name,),
            )
            for name, values in texts.items()
            if len(values) > PROPOSED_AXIS_VALUES
            and name not in excluding
            and names.mentions(name, names.DEMOGRAPHIC)
            and not all(map(is_number, values))  # see in_bands
        ),
    ]


def _known_as(name: str) -> tuple[str, ...]:
    """Return a name's words without words for raters, equal for ``annotator_gender`` and ``Gender``."""
    said = tuple(word for word in names.words(name) if names.singular(word) not in names.RATER)
    return said or (name,)


def said_twice(
    annotations: Table, raters: Table | None, spec: DataSpec, axes: Collection[str]
) -> Iterator[Reason]:
    """Yield axes of the raters file that have another name and other values in the annotations."""
    if raters is None or spec.rater not in annotations.columns:
        return
    own, ids = annotations.column(str(spec.rater)), str(spec.rater)
    theirs = raters.column(ids if ids in raters.columns else most_shared(raters, own.values)[0])
    first, of_raters = (
        dict(zip(*np.unique(one.codes, return_index=True), strict=True)) for one in (own, theirs)
    )
    rows = {theirs.values[code]: row for code, row in of_raters.items()}
    both = [
        (int(row), int(rows[own.values[code]])) for code, row in first.items() if own.values[code] in rows
    ]
    for axis, name in product(axes, annotations.columns):
        if axis not in raters.columns or name in raters.columns or _known_as(axis) != _known_as(name):
            continue
        pairs = [(_plain(annotations.cell(name, row)), _plain(raters.cell(axis, at))) for row, at in both]
        said = {pair for pair in pairs if all(pair)}
        spelt = len({one for one, _ in said}) == len({other for _, other in said}) == len(said)
        if spelt or all(one == other for one, other in said) or not _of_raters(own, annotations.column(name)):
            continue
        differ = sum(one != other for one, other in pairs if one and other)
        both_files = f"{raters.name} and {annotations.name}"
        said_so = (
            f"{both_files} disagree on {quoted(axis)}, called {quoted(name)} there, for "
            f"{number(differ, 'rater')}; {raters.name} decides, unless {quoted(name)} is named"
        )
        yield Reason("raters", said_so)


def _plain(text: str) -> str:
    """Return a value in one spelling: ``Male`` as ``male``, ``20.0`` as ``20``."""
    return f"{float(text):g}" if is_number(text) else text.strip().casefold()


def _of_raters(own: Column, values: Column) -> bool:
    """Return whether each rater has one value."""
    return len(np.unique(np.stack([own.codes, values.codes]), axis=1)[0]) == len(np.unique(own.codes))


def in_bands(
    annotations: Table, raters: Table | None, spec: DataSpec, axes: Container[str], able: Container[str]
) -> Iterator[Reason]:
    """Propose bands for numbers about raters, such as ages, that are too many for groups."""
    look = Look(annotations)
    own = spec.profile
    if spec.layout == "long":
        own = tuple(name for name in look.columns if look.depends_on(name, str(spec.rater)))
    own = tuple(name for name in own if raters is None or name not in raters.columns)
    for table, about in ((annotations, own), *([] if raters is None else [(raters, raters.columns)])):
        for name in about:
            if name in axes or not names.mentions(name, names.DEMOGRAPHIC):
                continue
            texts = [text for text in table.distinct(name) if text not in spec.missing]
            if (edges := bands(texts, MOST_NUMBERS if name in able else 3)) is not None:
                why = (
                    f"{quoted(name)} makes no groups yet: {number(len(texts), 'number')} are too many; "
                    "cut it into ranges, on Data under Recode values or by "
                    f"--bins {shlex.quote(name)}:{edges}"
                )
                yield Reason("axes", why, "likely", (name,))
