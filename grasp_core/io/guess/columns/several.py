"""Ids that only several columns tell together: a picture's number that begins anew in each album."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from grasp_core.annotations import Codes
from grasp_core.io.guess.look import Look
from grasp_core.io.table import names
from grasp_core.io.table.joined import PLUS

_MOST_COLUMNS, _MOST_TOGETHER = 10, 4
_APART, _RECURRING = 0.95, 1.5
"""Share of the rows that an item and a rater tell apart, and raters per item, of ids that fit."""
_ROWS, _EMPTY, _TEXTS = 20_000, 0.05, 20


def item_of_several(look: Look, rater: str, known: str | None = None) -> str | None:
    """The fewest columns, written ``a+b``, that are the item where `rater` is; None where none are.

    Parameters
    ----------
    look : Look
    rater : str
    known : str, optional
        One of the columns.
    """
    some = look.of_some(rater)
    rows = np.flatnonzero(some[rater].codes % -(-some.n // _ROWS) == 0)
    codes = some[rater].codes[rows]
    able = [name for name in look.columns if name != rater and _may_be_part(look, name, rater)]
    able.sort(key=lambda name: (-names.id_score(name, names.ITEM | names.PARTS), not names.is_id(name)))
    shown = tuple(name for name in able if _written(look, name))  # together all that raters saw
    for chosen in (*([shown] if len(shown) > 1 else []), *_sets(able[:_MOST_COLUMNS])):
        if known is not None and known not in chosen:
            continue
        parts = [some[name].codes[rows] for name in chosen]
        items = _codes(parts)
        n_items = int(items.max()) + 1
        pairs = int(_codes([items, codes]).max()) + 1
        if pairs >= max(_APART * rows.size, _RECURRING * n_items):
            return PLUS.join(name for name in look.columns if name in chosen)
    return None


def _sets(able: Sequence[str]) -> list[tuple[str, ...]]:
    sizes = range(2, _MOST_TOGETHER + 1)
    return [chosen for size in sizes for chosen in combinations(able, size)]


def _codes(parts: Sequence[Codes]) -> Codes:
    whole = parts[0]
    for part in parts[1:]:
        _, whole = np.unique(whole.astype(np.int64) * (int(part.max()) + 1) + part, return_inverse=True)
    return whole


def _written(look: Look, name: str) -> bool:
    texts = look.texts(name)
    return len(texts) > _TEXTS and 2 * sum(" " in text for text in texts) > len(texts)


def _may_be_part(look: Look, name: str, rater: str) -> bool:
    """Whether the column may be part of an id: neither an answer, nor about the rater or the row."""
    if (
        PLUS in name
        or look.unique(name)
        or look.depends_on(name, rater)
        or look.kind(name) in ("time", "link")
    ):
        return False
    if names.mentions(name, names.DEMOGRAPHIC | names.SECONDARY | names.META - names.PHASES):
        return False
    called = names.words(name)[-1:]
    label = names.label_score(name) > 1 and called not in (("category",), ("class",))
    asked = names.mentions(name, names.ASKED) or names.names_questions(name)
    return not label and not asked and look.empty(name) <= _EMPTY
