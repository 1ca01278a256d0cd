"""The column of labels, or several."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from grasp_core.model.annotations import Codes
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.text import agree, listed, number, quoted
from grasp_core.reading.dataset.checks import MAX_CATEGORIES
from grasp_core.reading.formats.shapes.rows import MAX_OPTIONS
from grasp_core.reading.guess.advice import Confidence, Reason
from grasp_core.reading.guess.look import Look, neutral
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import PLUS
from grasp_core.reading.table.table import Table

_MOST_COLUMNS, _MOST_TOGETHER = 10, 4
_APART, _RECURRING = 0.95, 1.5
"""Share of the rows that an item and a rater tell apart, and raters per item, of ids that fit."""
_ROWS, _EMPTY, _TEXTS = 20_000, 0.05, 20


def item_of_several(look: Look, rater: str, known: str | None = None) -> str | None:
    """The fewest columns, written ``a+b``, that are the item where `rater` is, with `known`."""
    some = look.of_some(rater)
    rows = np.flatnonzero(some[rater].codes % -(-some.n // _ROWS) == 0)
    codes = some[rater].codes[rows]
    able = [name for name in look.columns if name != rater and _may_be_part(look, name, rater)]
    able.sort(key=lambda name: (-names.id_score(name, names.ITEM | names.PARTS), not names.is_id(name)))
    texts = {name: look.texts(name) for name in able}
    shown = tuple(  # together all that raters saw
        name
        for name, own in texts.items()
        if len(own) > _TEXTS and 2 * sum(" " in text for text in own) > len(own)
    )
    sizes = range(2, _MOST_TOGETHER + 1)
    sets = (chosen for size in sizes for chosen in combinations(able[:_MOST_COLUMNS], size))
    for chosen in (*([shown] if len(shown) > 1 else []), *sets):
        if known is not None and known not in chosen:
            continue
        parts = [some[name].codes[rows] for name in chosen]
        items = _codes(parts)
        n_items = int(items.max()) + 1
        pairs = int(_codes([items, codes]).max()) + 1
        if pairs >= max(_APART * rows.size, _RECURRING * n_items):
            return PLUS.join(name for name in look.columns if name in chosen)
    return None


def _codes(parts: Sequence[Codes]) -> Codes:
    whole = parts[0]
    for part in parts[1:]:
        _, whole = np.unique(whole.astype(np.int64) * (int(part.max()) + 1) + part, return_inverse=True)
    return whole


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


_OWN, _ROWS_OF_LABELS = 0.9, 4
"""A column that tells apart so many of an item's or a rater's rows, on average, is no label."""
_ANSWERED = 0.25
"""Questions that a smaller share of the fullest one's raters answered are no labels beside it."""
_MOST_SHARED = 0.5
"""Words of more distinct values than this share of the rows are free answers."""


def guess_label(look: Look, item: str, rater: str) -> tuple[str, Reason]:
    """The label column and why; unsure where several are as good, or none is."""
    able = [name for name in look.columns if name not in (item, rater) and _may_label(look, name)]
    free = [name for name in able if _varies(look, name, item) and _varies(look, name, rater)]
    if not free:
        return _named_only(look, able, item, rater)
    ranks = {name: _rank(name) for name in free}
    top = max(ranks.values())
    best = _different(look, _best(look, ranks, top))
    if len(best) > 1 or top < 0:
        taken = set(best)
        others = [name for name, rank in ranks.items() if name not in taken and 0 <= rank < top]
        candidates = (*_fewest_first(look, best), *_fewest_first(look, others))
        why = f"{listed(candidates)} vary within items and within raters, as labels do"
        return candidates[0], Reason("label", why, "unsure", candidates)
    asked = (name for name in look.columns if name not in (item, rater) and _rank(name) > 1)
    written = [name for name in asked if look.kind(name) == "text" and not look.depends_on(name, item)]
    if not top and written:
        why = f"{listed(written)} {agree(len(written), 'holds', 'hold')} free answers, which are no labels"
        return best[0], Reason("label", why, "unsure", (best[0],))
    distinct = number(len(look.texts(best[0])), "value")
    why = f"its name says label, and it has {distinct}"
    if not top:
        why = f"it varies within items and within raters, and has {distinct}"
    confidence: Confidence = "sure" if top > 1 else "likely"
    return best[0], Reason("label", f"{quoted(best[0])}: {why}", confidence)


def among_questions(look: Look, spec: DataSpec, questions: Sequence[str]) -> tuple[DataSpec, list[Reason]]:
    """The label among what a known format's raters were asked; unsure where several are as good."""
    answered = {name: look.n * (1 - look.empty(name)) for name in questions}
    able = [name for name in questions if _of_options(look, name, answered[name])]
    able = [
        name for name in able if not any(look.depends_on(name, str(key)) for key in (spec.item, spec.rater))
    ]
    most = max((answered[name] for name in able), default=0.0)
    able = [name for name in able if answered[name] >= _ANSWERED * most]
    top = max(map(_rank, able), default=0)
    best = _different(look, [name for name in able if _rank(name) == top])
    if not best:
        return spec, []
    label = spec.label if spec.label in best else best[0]
    spec = replace(spec, label=label)
    if len(best) > 1:
        candidates = (label, *(name for name in best if name != label))
        return spec, [Reason("label", f"{listed(best)} are questions alike", "unsure", candidates)]
    return spec, [Reason("label", f"{quoted(label)}: of what was asked, it has options and most answers")]


def _of_options(look: Look, name: str, answered: float) -> bool:
    """Whether answers to a question recur, and it is none about the rater, the time or the answer itself."""
    values = len(look.texts(name))
    most = MAX_CATEGORIES if look.kind(name) == "numbers" else MAX_OPTIONS
    aside = names.mentions(name, names.DEMOGRAPHIC | names.META | names.SECONDARY)
    return 2 <= values <= min(most, answered / 2) and not aside


def _rank(name: str) -> int:
    """The rank of a name as a label's; below 0 where it says something else that raters may be asked."""
    score = names.label_score(name)
    if score > 1:
        return 0 if names.mentions(name, names.MACHINE) else score
    return -1 if names.mentions(name, names.DEMOGRAPHIC | names.SECONDARY) else score


def _best(look: Look, ranks: Mapping[str, int], top: int) -> list[str]:
    """Columns that may be the label, though the names of some say so more plainly."""
    plainest = [name for name, rank in ranks.items() if rank == top]
    measured = all(_measured(look, name) for name in plainest)
    asked_again = _shorter(ranks) if top == 2 else frozenset()

    def as_good(name: str, rank: int) -> bool:
        if top == 4 and not names.GIVEN.isdisjoint(names.words(name)):  # the plainest may be what was shown
            return rank == 3
        return rank >= 0 and (measured or (rank == 0 and name in asked_again))

    return [name for name, rank in ranks.items() if rank == top or as_good(name, rank)]


def _measured(look: Look, name: str) -> bool:
    """Whether a column holds numbers with decimals that hardly recur, as a model's scores."""
    texts = look.texts(name)
    return (
        look.kind(name) == "numbers"
        and len(texts) > _MOST_SHARED * look.n
        and not all(text.strip().removesuffix(".0").lstrip("-").isdigit() for text in texts)
    )


def _shorter(able: Collection[str]) -> frozenset[str]:
    """Names whose words a longer one has too, which asks the same: ``toxicity`` beside ``toxicity_score``."""
    words = {name: frozenset(names.words(name)) for name in able}
    having: defaultdict[str, set[frozenset[str]]] = defaultdict(set)
    for found in words.values():
        for word in found:
            having[word].add(found)
    few = {name: min((having[word] for word in found), key=len, default=()) for name, found in words.items()}
    return frozenset(name for name, found in words.items() if any(found < other for other in few[name]))


def _may_label(look: Look, name: str, least: int = 2) -> bool:
    """Whether the values may be labels: no texts, times, addresses or ids."""
    if (names.is_id(name) and not names.names_label(name)) or names.mentions(
        name, names.META | names.ADDRESS
    ):
        return False
    index = neutral(name) or names.mentions(name, names.INDEX)
    if index and look.kind(name) == "numbers" and not all(map(neutral, look.columns)):
        return False  # numbers of rows, as programs save them without a name
    kind, values = look.kind(name), len(look.texts(name))
    if kind in ("empty", "time", "link", "text") or values < least:
        return False
    if kind == "numbers":
        return values <= MAX_CATEGORIES or _rank(name) >= 0
    return values <= MAX_CATEGORIES and (values <= 3 or values <= _MOST_SHARED * look.n)


def _varies(look: Look, name: str, key: str) -> bool:
    """Whether values differ within `key`, and recur there."""
    if look.depends_on(name, key) or look.numbered(name, key):
        return False
    often = look.n / len(look[key].values)
    if look.kind(name) == "numbers" and _rank(name) >= 0:  # sliders seldom repeat
        return True
    return often < _ROWS_OF_LABELS or look.pairs(name, key) < _OWN * look.n


def _different(look: Look, columns: Sequence[str]) -> list[str]:
    """Without those that say the same as an earlier one, such as codes beside their names."""
    kept: dict[bytes, str] = {}
    for name in columns:  # which rows hold the same text, whatever that is: the first row with each one's
        _, first, text = np.unique(look[name].codes, return_index=True, return_inverse=True)
        kept.setdefault(hashlib.sha256(first[text].tobytes()).digest(), name)
    return list(kept.values())


def _fewest_first(look: Look, columns: Sequence[str]) -> list[str]:
    """In the file's order, but what has many values last."""
    return sorted(columns, key=lambda name: len(look[name].values) > 20)


def _named_only(look: Look, able: Sequence[str], item: str, rater: str) -> tuple[str, Reason]:
    """No column varies within items and raters: one whose name says label, or a question."""
    others = [name for name in look.columns if name not in (item, rater)]
    named = [name for name in others if _rank(name) > 1 and _may_label(look, name, least=1)]
    if len(named) == 1 and (len(look.texts(named[0])) == 1 or not look.depends_on(named[0], rater)):
        why = f"{quoted(named[0])}: its name says label, though it does not vary within items"
        return named[0], Reason("label", why, "likely")
    best = (named or list(able) or others or list(look.columns))[0]
    why = "no column looks like labels: none of few values varies within items and within raters"
    return best, Reason("label", why, "unsure", tuple(named or able))


def doubts(table: Table, spec: DataSpec) -> list[Reason]:
    """That the label column of a known format holds objects or free answers, which are no labels."""
    if spec.layout != "long" or spec.label is None or spec.label not in table.columns:
        return []
    look = Look(table)
    texts = look.texts(spec.label)
    objects = all(text.lstrip().startswith(("{", "[{")) for text in texts)
    free = look.kind(spec.label) == "text" and len(texts) > _MOST_SHARED * look.n
    if not texts or not (objects or free):
        return []
    others = tuple(name for name in spec.labels if name != spec.label)
    what = "objects in JSON, such as marked spans" if objects else "free answers, hardly any of them twice"
    why = f"no column looks like labels: {quoted(spec.label)} holds {what}"
    return [Reason("label", why, "unsure", others)]
