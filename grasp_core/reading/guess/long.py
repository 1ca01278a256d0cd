"""The columns of a file with a row per annotation: its items and raters, label and text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.text import listed, number, quoted
from grasp_core.reading.guess.advice import Confidence, Reason
from grasp_core.reading.guess.labels import guess_label, item_of_several
from grasp_core.reading.guess.look import MOST_QUESTIONS, TEXT_LENGTH, Look
from grasp_core.reading.guess.values import no_raters
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import PLUS

_EMPTY = 0.05
"""Columns with a larger share of empty cells hold no ids."""
_MAX_COLUMNS = 12
"""Of more columns whose names say nothing, the first are looked at."""
_SOME, _SEVERAL = 1.05, 1.5
"""Raters per item, on average, from which the columns are borne out: with telling names, and without."""
_APART, _NEARLY = 0.99, 0.95
"""Share of rows told apart from which two columns are likely, or possible, to be item and rater."""
_ONCE = 0.67
"""Where an item and a rater tell apart a smaller share of the rows, most have several in common."""
_FEW_ROWS = 12
"""In fewer rows, columns are alike by chance."""
_BATCHES = frozenset({"hit", "task", "case", "record", "example", "sample", "unit"})
"""Words for what may hold several items, or one of them more than once."""

Role = Literal["item", "rater"]
_KINDS = {"item": names.ITEM, "rater": names.RATER}
_NO_ITEMS = (
    "no column looks like items: none has values that several raters rated; what would do is a file with a "
    "row per annotation and a column of the item that it is about"
)


def guess_long(look: Look) -> tuple[DataSpec, list[Reason]]:
    """A guess for a file with a row per annotation, and why."""
    item, rater, found = _guess_ids(look)
    look = look.with_joined(item)
    sure = all(reason.confidence == "sure" for reason in found)
    why = "the file has a row per annotation: items and raters recur from row to row"
    reasons = [Reason("layout", why, "sure" if sure or look.named.long else "likely"), *found]
    some = look.of_some(item)
    label = look.named.label
    if label is None:
        label, reason = guess_label(some, item, rater)
        reasons.append(reason)
    long = [name for name in look.columns if some.length(name) > TEXT_LENGTH]
    texts = [name for name in long if name not in (item, rater, label) and some.depends_on(name, item)]
    text = max(texts, key=lambda name: (names.mentions(name, names.TEXT), some.length(name)), default=None)
    if text is not None:
        reasons.append(Reason("text", f"{quoted(text)}: long texts, one per item"))
    return DataSpec(item=item, rater=rater, label=label, text=text), reasons


class Pair(NamedTuple):
    """Two columns as item and rater; `apart` is the share of the rows that the two tell apart."""

    item: str
    rater: str
    score: int
    apart: float


class Ids(NamedTuple):
    """The choice, and why."""

    item: str
    rater: str
    reasons: list[Reason]


def _guess_ids(look: Look) -> Ids:
    """Item and rater of a long file; unsure where several columns may be, or none."""
    named = look.named
    if named.item is not None and named.rater is not None:
        return Ids(named.item, named.rater, [])
    by_name: dict[Role, list[str]] = {}
    others: dict[Role, list[str]] = {}
    for role, given in _given(look):
        by_name[role], others[role] = [given] if given else [], []
        if given is None:
            able = _able(look, role)
            telling = sorted((one for one in able if _score(one, role)), key=lambda one: -_score(one, role))
            by_name[role] = telling[:_MAX_COLUMNS]
            silent = (one for one in able if one not in by_name[role] and not _something_else(look, one))
            others[role] = list(silent)[:_MAX_COLUMNS]
    for items, raters in ((by_name, by_name), (by_name, others), (others, by_name), (others, others)):
        if found := _pairs(look, items["item"], raters["rater"]):
            return _of_several(look, found)
    for name in look.columns:
        if names.names_questions(name) and 1 < len(look.texts(name)) <= MOST_QUESTIONS:
            # Each question has rows of its own: in all of them no item and rater are together once.
            column = look.whole.column(name)
            rows = np.flatnonzero(column.codes == column.counts().argmax())
            return _guess_ids(Look(look.whole.taken(rows), named))
    return _none(look)


def _given(look: Look) -> tuple[tuple[Role, str | None], ...]:
    return ("item", look.named.item), ("rater", look.named.rater)


def _able(look: Look, role: Role) -> list[str]:
    """Columns that may hold ids, for what their values are."""
    taken = set(look.named.fields.values())
    never = ("empty", "time") if role == "item" else ("empty", "time", "link", "text")
    free = (name for name in look.columns if name not in taken)
    return [name for name in free if look.kind(name) not in never and look.empty(name) <= _EMPTY]


def _score(name: str, role: Role) -> int:
    return names.id_score(name, _KINDS[role])


def _something_else(look: Look, name: str) -> bool:
    """Whether the column is no id: by its name, or for what its values are."""
    words = names.DEMOGRAPHIC | names.META | names.SECONDARY
    if look.kind(name) == "text" and _SEVERAL * len(look[name].values) < look.n:
        words -= names.WRITTEN  # what several raters saw, they did not write
    if look.unique(name) or names.mentions(name, words) or names.label_score(name) > 1:
        return True
    whole = (text.strip().removesuffix(".0").isdigit() for text in look.texts(name))
    return look.kind(name) == "numbers" and not all(whole)


def _pairs(look: Look, items: Sequence[str], raters: Sequence[str]) -> list[Pair]:
    """The pairs that the values bear out, best first; of columns that say the same, ids before texts."""

    def rank(pair: Pair) -> tuple[float, ...]:
        ids = sum(names.is_id(name) for name in (pair.item, pair.rater))
        length = look.length(pair.item) + look.length(pair.rater)
        return pair.score, pair.apart >= _APART, round(pair.apart, 2), ids, -length

    both = ((item, rater) for item in items for rater in raters if item != rater)
    found = [pair for item, rater in both if (pair := _borne_out(look, item, rater)) is not None]
    return sorted(found, key=rank, reverse=True)


def _borne_out(look: Look, item: str, rater: str) -> Pair | None:
    by_name = _score(item, "item"), _score(rater, "rater")
    some = look.of_some(item)
    pairs = some.pairs(item, rater)
    apart = pairs / max(some.n, 1)
    if apart < _NEARLY and pairs >= _SEVERAL * len(some[item].values):
        apart = pairs / some.distinct_rows
    most = max(len(some[item].values), len(some[rater].values))
    if (by_name[0] or item == look.named.item) and (by_name[1] or rater == look.named.rater):
        needed = _SEVERAL if look.kind(item) == "text" else _SOME  # remarks of raters may recur, too
        fits = pairs > needed * len(some[item].values) and pairs > len(some[rater].values)
    else:
        counted = some.numbered(item, rater) or some.numbered(rater, item)
        fits = pairs >= _SEVERAL * most and apart >= _NEARLY and not counted
    return Pair(item, rater, sum(by_name), apart) if fits else None


def _of_several(look: Look, found: Sequence[Pair]) -> Ids:
    first = found[0]
    best = _by_id(look, first)
    guessed = look.named.item is None and look.named.rater is None
    people = guessed and all(_score(one, "rater") and not _score(one, "item") for one in best[:2])
    item_rates, rater_rates = (names.mentions(name, names.RATES) for name in best[:2])
    turned = people and item_rates and not rater_rates
    if not people and not best.score:  # other columns may say that the two are the other way round
        of_rater, of_item = _described(look, best.rater), _described(look, best.item)
        turned = of_item[0] or (not of_rater[0] and of_rater[1])
    if turned:
        first, best = (pair._replace(item=pair.rater, rater=pair.item) for pair in (first, best))
    elif people and item_rates == rater_rates:
        why = f"{listed(best[:2])} are both named like raters, and either may be rated"
        return Ids(*best[:2], [Reason(role, why, "unsure", best[:2]) for role in _KINDS])
    reasons = []
    several = None
    if look.named.item is None and best.apart < _ONCE:
        several = item_of_several(look, best.rater, best.item)
    for role, given in _given(look):
        if role == "item" and several is not None:
            why = f"most raters have several rows for {quoted(best.item)}"
            reasons.append(Reason(role, why, "unsure", (several, best.item)))
        elif given is None:
            reasons.append(_reason(look, role, best, [first, *found[1:]]))
    return Ids(best.item, best.rater, reasons)


def _described(look: Look, key: str) -> tuple[bool, bool]:
    """Whether a demographic column, and whether a column of texts, has one value per value of `key`."""
    some = look.of_some(key)
    others = [name for name in look.columns if name != key]
    return any(
        names.about_raters(name, key) and len(some[name].values) > 1 and some.depends_on(name, key)
        for name in others
    ), any(look.kind(name) == "text" and some.depends_on(name, key) for name in others)


def _by_id(look: Look, pair: Pair) -> Pair:
    """The same items by their ids rather than by their texts, where a column has them."""
    if look.named.item is not None or not _texts(look, pair.item) or names.is_id(pair.item):
        return pair
    free = (name for name in look.columns if name not in (pair.item, pair.rater))
    others = [name for name in free if not _something_else(look, name)]
    for name in others:  # two items may have one text
        some = look.of_some(name)
        if names.is_id(name) and look.depends_on(pair.item, name):
            pairs = some.pairs(name, pair.rater)
            if pairs > _SOME * len(some[name].values) and pairs > len(some[pair.rater].values):
                return pair._replace(item=name)
    shorter = (name for name in others if look.length(name) < look.length(pair.item))
    plain = (name for name in shorter if look.kind(name) in ("words", "numbers"))
    ids = next((name for name in plain if look.alike(name, pair.item)), None)
    return pair if ids is None else pair._replace(item=ids)


def _texts(look: Look, name: str) -> bool:
    """Whether a column holds what is rated, rather than its id."""
    return look.kind(name) == "text" or names.mentions(name, names.TEXT)


def _reason(look: Look, role: Role, best: Pair, found: Sequence[Pair]) -> Reason:
    own, other = getattr(best, role), getattr(found[0], role)
    if rivals := _rivals(look, role, best, found):
        both = (own, *rivals)
        return Reason(role, f"{listed(both)} may each be the {role}s", "unsure", both)
    if role == "item" and (crossing := _crossing(look, best)):
        several = PLUS.join([own, *crossing])
        sentence = f"{listed([own, *crossing])} are named like items, and none of them decides another"
        return Reason(role, sentence, "unsure", (several, own, *crossing))
    score = _score(own, role)
    if not best.score and look.n < _FEW_ROWS:
        why = f"{number(look.n, 'row')} are too few to tell ids by their values alone"
        return Reason(role, f"{quoted(own)}: {why}", "unsure", (own,))
    if not score and own != other:
        one_each = len(look[own].values) == len(look[other].values)
        says = "one per" if one_each else "an id that decides"
        return Reason(role, f"{quoted(own)}: {says} {quoted(other)}", "likely")
    free = (name for name in look.columns if name not in best[:2])
    called = tuple(name for name in free if _score(name, role) > 1)
    confidence: Confidence = "sure" if score > 1 else "likely"
    why, candidates = f"its name says {role}", tuple(dict.fromkeys((own, *best[:2])))
    if not score and best.apart < _APART:
        why, confidence = "with the other ids it tells most rows apart, but not all", "unsure"
    elif not score and not (
        best.score
        or look.named.item
        or look.named.rater
        or any(one != two for one, two in zip(*(_described(look, key) for key in best[:2]), strict=True))
    ):
        why, confidence = "nothing says which of the two ids is the item and which the rater", "unsure"
    elif not score and called:
        why = f"the values say so, and {listed(called)} by name"
        return Reason(role, f"{quoted(own)}: {why}", "unsure", (own, *called))
    elif not score:
        why = "with the other ids it tells the rows apart"
    sentence = f"{quoted(own)}: {why}; {number(len(look[own].values), 'value')} in the file"
    return Reason(role, sentence, confidence, candidates if confidence == "unsure" else ())


def _crossing(look: Look, best: Pair) -> list[str]:
    """Other columns named like items that divide the rows otherwise: sentences numbered anew in documents."""
    some = look.of_some(best.item)
    free = (name for name in look.columns if name not in (best.item, best.rater, look.named.label))
    named = (name for name in free if _score(name, "item") == 3 and _BATCHES.isdisjoint(names.words(name)))
    filled = (
        name for name in named if look.empty(name) <= _EMPTY and look.kind(name) in ("words", "numbers")
    )
    able = (name for name in filled if not names.mentions(name, names.META) and not look.unique(name))
    return [
        name
        for name in able
        if not some.depends_on(name, best.item)
        and not some.depends_on(best.item, name)
        and not some.depends_on(name, best.rater)
    ]


def _rivals(look: Look, role: Role, best: Pair, found: Sequence[Pair]) -> list[str]:
    """Other columns that may as well have the role, and do not say the same."""
    own = getattr(best, role)
    able = [pair for pair in found if pair.score == best.score]
    able = [pair for pair in able if pair.apart >= _NEARLY or best.apart < _APART]
    kept: list[str] = []
    for name in dict.fromkeys(getattr(pair, role) for pair in able):
        told = role == "item" and names.is_id(own) and _texts(look, name) and look.depends_on(name, own)
        if name not in best[:2] and not told and not any(look.alike(name, one) for one in (own, *kept)):
            kept.append(name)
    return kept


def _is_list(text: str) -> bool:
    return text.startswith("[") and text.endswith("]")


def _none(look: Look) -> Ids:
    """No two columns are borne out: the likeliest by name, and what is missing."""
    item, rater = look.ids
    if look.named.item is None and rater is not None and not look.unique(rater):
        several = item_of_several(look, rater)
        if several is not None:
            why = f"no column by itself tells what {quoted(rater)} rated, but these do together"
            reasons = [Reason("item", why, "unsure", (several,))]
            if not look.named.rater:
                reasons.append(Reason("rater", f"{quoted(rater)}: its name says rater", "sure"))
            return Ids(several, rater, reasons)
    why = "none tells who gave each label"
    made = [name for name in look.columns if names.mentions(name, names.COUNTED)]
    if 2 * len(made) >= len(look.columns):
        why = f"{quoted(made[0])} is named like what was counted or worked out for an item"
    listing = (name for name in look.columns if (some := look.texts(name)) and all(map(_is_list, some)))
    if (name := next(listing, None)) is not None:
        why = f"{quoted(name)} holds lists of labels, without who gave them"
    if rater is not None and item is not None:
        why = f"hardly any item has more than one of {quoted(rater)}, or they rate one item each"
    no_items = rater is not None and item is None and not look.unique(rater)
    free = [name for name in look.columns if name not in (item, rater, look.named.label)]
    free += [name for name in look.columns if name not in (item, rater, *free)]
    item = item or free.pop(0)
    rater = rater or free.pop(0)
    missing = Reason("item", _NO_ITEMS, "unsure") if no_items else Reason("rater", no_raters(why), "unsure")
    others = [
        Reason(role, f"{quoted(name)}: nothing says that it holds {role}s", "unsure", (name,))
        for role, name in (("item", item), ("rater", rater))
        if role != missing.field and role not in look.named.fields
    ]
    asked = [missing] if missing.field not in look.named.fields else []
    return Ids(item, rater, [*asked, *others])
