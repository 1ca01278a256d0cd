"""Columns of labels in a matrix: told by their names, and by values only where names say nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from grasp_core.model.text import listed, number, quoted
from grasp_core.reading.dataset.checks import MAX_CATEGORIES
from grasp_core.reading.formats.shapes.column_groups import product
from grasp_core.reading.guess.advice import ANY, Confidence
from grasp_core.reading.guess.look import Look
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import Column
from grasp_core.reading.table.parsed import RATERS, alike, form, kinds_of, runs, stem
from grasp_core.reading.table.table import Table

_NEUTRAL = re.compile(r"column \d+")
_LIKE_LABELS = 0.8
"""Share of a column's cells that are labels of other columns, from which it may hold labels too."""
_LONGEST_PATTERN = 60
_FEW = 0.1
"""As many label-like columns beside a run of like names, for each of the run, leave no doubt about it."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The columns of labels, and the others.

    - `why`: what told them apart, as the end of a sentence.
    """

    columns: tuple[str, ...]
    rest: tuple[str, ...]
    why: str
    confidence: Confidence


def named_by_raters(look: Look, others: Sequence[str], raters: Table) -> Cells | None:
    """Columns that a raters file names, and those of like names; None where it names fewer than two."""
    id_column, hits = most_shared(raters, set(others))
    if hits < 2:
        return None
    known = set(raters.distinct(id_column))
    cells = alike(others, [name for name in others if name in known])
    more = [name for name in cells if name not in known]
    why = f"{raters.name} names {'them' if not more else 'most of them'}"
    if more:
        why += f", and {listed(more, 3)} {'is' if len(more) == 1 else 'are'} named alike"
    labels = _labels(look, cells)
    if form(cells[0]) is None and (
        doubtful := [name for name in _others(others, cells) if _may_be_labels(look, name, labels)]
    ):
        return _cells(others, cells, f"{why}, but {listed(doubtful, 3)} hold the same labels", "unsure")
    return _cells(others, cells, why, "sure" if 2 * len(more) < len(cells) else "unsure")


def named_alike(look: Look, others: Sequence[str]) -> Cells | None:
    """The longest run of like names whose columns hold labels; None where there is none."""
    named = [name for name in others if not neutral(name)]
    able = [run for run in runs(named) if len(_labels(look, run)) <= MAX_CATEGORIES]
    if not able or len(_labels(look, able[0])) < 2:
        return None
    if len(able[0]) < 3 and 2 * len(able[0]) <= len(others) and stem(able[0][0]) not in RATERS:
        return None
    cells, *further = able
    rest = _others(others, cells)
    labels = _labels(look, cells)
    why = f"{number(len(cells), 'column')} with names like {quoted(cells[0])} and {quoted(cells[-1])}"
    rivals = [
        run
        for run in further
        if 3 * len(run) >= len(cells)
        or sum(_among(look[name], labels) for name in run) / len(run) >= _LIKE_LABELS
    ]
    doubtful = [name for name in rest if _may_be_labels(look, name, labels)]
    parts = kinds_of({name: look.texts(name) for name in cells})
    other = [part.columns for part in parts[1:] if len(part.labels) > 1]  # as another question's would
    but = None
    if rivals:
        but = f"{listed(rivals[0], 3)} are named alike too"
    elif product(cells):
        but = "they may be several questions of each"
    elif len(doubtful) > max(1, _FEW * len(cells)):
        but = f"{listed(doubtful, 3)} hold the same labels"
    elif other:
        but = f"{listed(other[0], 3)} hold other labels than {quoted(parts[0].columns[0])}"
    if but is not None:
        return _cells(others, cells, f"{why}, but {but}", "unsure")
    return _cells(others, cells, why, "likely")


def questions_of(look: Look, columns: Sequence[str]) -> list[str]:
    """Patterns of columns that hold labels of different kinds, each a question; one or none, mostly."""
    able = {
        name: look.texts(name)
        for name in columns
        if 1 < len(look.texts(name)) <= MAX_CATEGORIES
        and look.kind(name) not in ("time", "link")
        and not names.mentions(name, names.DEMOGRAPHIC | names.AGGREGATE | names.INDEX)
    }
    found: dict[str, int] = {}
    for kind in kinds_of(able):
        like = [run for run in runs(kind.columns) if len(run) > 2]
        rest = [name for name in kind.columns if not any(name in run for run in like)]
        ends: dict[str, list[str]] = {}  # what stands behind the last underscore, as _1 of Qualtrics' sliders
        for name in rest:
            ends.setdefault(name.rpartition("_")[2] if "_" in name else "", []).append(name)
        of_one_end = (several for end, several in ends.items() if end)
        for several in (*like, *([kind.columns] if not like else []), *of_one_end):
            pattern = pattern_of(several, look.columns)
            if pattern is not None and len(several) > 2:
                found[pattern] = len(several)
    most = max(found.values(), default=0)
    return [pattern for pattern, columns in found.items() if 2 * columns >= most]


def pattern_of(several: Sequence[str], columns: Sequence[str]) -> str | None:
    """The beginning and the end that names share, with ``*`` between them, if they alone have both."""
    start = _common_start(several)
    end = _common_start([name[len(start) :][::-1] for name in several])[::-1]
    start = start.rstrip("0123456789")
    end = end if end[:1] == "_" or not end[:1].isdigit() else end.lstrip("0123456789")
    if not (start or end) or ANY in start + end or len(start + end) > _LONGEST_PATTERN:
        return None
    pattern = f"{start}{ANY}{end}"
    return pattern if len(matching(pattern, columns)) == len(several) else None


def _common_start(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)
    return first[: next((at for at, letter in enumerate(first) if last[at : at + 1] != letter), len(first))]


def matching(pattern: str, columns: Sequence[str]) -> list[str]:
    """The columns whose names a pattern fits; ``*`` alone stands for anything."""
    wanted = re.compile(".*".join(map(re.escape, pattern.split(ANY))), re.DOTALL)
    return [name for name in columns if wanted.fullmatch(name)]


def neutral(name: str) -> bool:
    """Whether a column got its name here, for want of one."""
    return _NEUTRAL.fullmatch(name) is not None


def rater_by_file(look: Look, raters: Table) -> str | None:
    """The recurring column whose ids a raters file has, and hardly others; None where several may be it."""
    ids = [
        set(raters.distinct(name)) for name in raters.columns if not names.mentions(name, names.DEMOGRAPHIC)
    ]
    found = []
    for name in look.columns:
        values = look.texts(name)
        if not look.unique(name) and any(values <= known and 2 * len(values) > len(known) for known in ids):
            found.append(name)
    found.sort(key=lambda name: -names.id_score(name, names.RATER))
    return found[0] if found and all(look.alike(found[0], name) for name in found[1:]) else None


def of_like_values(look: Look, others: Sequence[str]) -> Cells | None:
    """Columns that share their values with many others; None where they are too few."""
    occurrences = Counter(text for name in others for text in look.texts(name))
    needed = max(2, len(others) // 4)
    shared = {text for text, count in occurrences.items() if count >= needed}
    if not shared or len(shared) > MAX_CATEGORIES:
        return None
    cells = [name for name in others if _among(look[name], shared) >= _LIKE_LABELS]
    if len(cells) < 2 or 2 * len(cells) < len(others):
        return None
    return _cells(others, cells, "no names say so, only their values are alike", "unsure")


def most_shared(raters: Table, ids: Collection[str]) -> tuple[str, int]:
    """The raters file's column that shares most values with `ids`, and how many."""
    wanted = set(ids)
    hits = {name: len(wanted.intersection(raters.distinct(name))) for name in raters.columns}
    best = max(hits, key=lambda name: hits[name])
    return best, hits[best]


def _cells(others: Sequence[str], cells: Sequence[str], why: str, confidence: Confidence) -> Cells:
    return Cells(tuple(cells), tuple(_others(others, cells)), why, confidence)


def _others(columns: Sequence[str], cells: Sequence[str]) -> list[str]:
    taken = set(cells)
    return [name for name in columns if name not in taken]


def _labels(look: Look, columns: Sequence[str]) -> set[str]:
    return set().union(*map(look.texts, columns))


def _may_be_labels(look: Look, name: str, labels: set[str]) -> bool:
    """Whether a column of another name could be one more of them, for all that its name says."""
    if names.mentions(name, names.AGGREGATE | names.DEMOGRAPHIC | names.INDEX):
        return False
    return _among(look[name], labels) >= _LIKE_LABELS


def _among(column: Column, texts: Collection[str]) -> float:
    present = ~column.among([""])
    return float((column.among(texts) & present).sum() / max(int(present.sum()), 1))
