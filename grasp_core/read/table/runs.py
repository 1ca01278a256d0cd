"""Runs of like names: columns that are one kind of thing say so by names of one form (P01, P02, ...)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from grasp_core.read.table import names

RATERS = names.RATER | {"ann", "anno", "annot", "ppt", "subj", "resp"}
ITEMS = names.ITEM | names.PARTS | {"q", "stim", "img", "trial"}
"""Beginnings of names, and short forms of them."""
_WHOLE = (
    (re.compile(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", re.I), "<uuid>"),
    (re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"), "<e-mail>"),
    (re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{24}", re.I), "<24 hexadecimal digits>"),
    (re.compile(r"(?=.*\d)A[0-9A-Z]{9,20}"), "<worker id>"),
)
"""Ids as platforms make them; the last is Mechanical Turk's."""
_LONGEST = 200
"""Longer names are sentences."""
_LETTER = re.compile(r"(.*[^\W\d_].*[\W_])[a-z]", re.I)
"""``rater_a``; letters by themselves say nothing."""


def form(name: str) -> str | None:
    """The form that like names share: ``p#`` of ``P01``, ``q#_#`` of ``Q3_1``; None where nothing recurs."""
    name = name.strip()
    if len(name) > _LONGEST:
        return None
    for pattern, whole in _WHOLE:
        if pattern.fullmatch(name):
            return whole
    if re.search(r"\d", name):
        return re.sub(r"\d+", "#", name.casefold())
    letter = _LETTER.fullmatch(name)
    return None if letter is None else f"{letter[1].casefold()}@"


def runs(columns: Iterable[str]) -> list[list[str]]:
    """Columns with names of one form, at least two each; the longest run first.

    The first of several that a file called alike has the name by itself, and ``label (2)`` follows.
    """
    columns = list(columns)
    known, found = set(columns), dict[str, list[str]]()
    for column in columns:
        alike = form(column if f"{column} (2)" not in known else f"{column} (1)")
        if alike is not None:
            found.setdefault(alike, []).append(column)
    return sorted((run for run in found.values() if len(run) > 1), key=len, reverse=True)


def alike(columns: Iterable[str], named: Sequence[str]) -> list[str]:
    """Those of `columns` that are among `named`, or have names of the form of most of them."""
    known = set(named)
    forms = [form(name) for name in named]
    usual, often = Counter(forms).most_common(1)[0] if forms else (None, 0)
    if usual is None or 2 * often <= len(forms):
        return [column for column in columns if column in known]
    return [column for column in columns if column in known or form(column) == usual]


class Kind(NamedTuple):
    """Columns that share labels, each with some other of them."""

    labels: set[str]
    columns: list[str]


def kinds_of(texts: Mapping[str, set[str]]) -> list[Kind]:
    """Columns apart by what they hold, those of most columns first; columns without any text are left out."""
    leader: dict[str, str] = {}  # of the columns with a label, the first of all that are connected
    above = {name: name for name in texts}

    def first_of(name: str) -> str:
        while above[name] != name:
            above[name] = above[above[name]]
            name = above[name]
        return name

    for name, own in texts.items():
        for text in own:
            above[first_of(name)] = first_of(leader.setdefault(text, name))
    parts: dict[str, Kind] = {}
    for name, own in texts.items():
        if own:
            part = parts.setdefault(first_of(name), Kind(set(), []))
            part.labels.update(own)
            part.columns.append(name)
    return sorted(parts.values(), key=lambda part: len(part.columns), reverse=True)


def stem(name: str) -> str:
    """``annotator`` of ``annotator_1`` and ``Annotator12``."""
    found = names.words(name)
    return found[0].rstrip("0123456789") if found else ""
