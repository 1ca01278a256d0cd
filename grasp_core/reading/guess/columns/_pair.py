"""The two columns of a long file that are its items and raters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from grasp_core.model.wording import listed, number, quoted
from grasp_core.reading.guess.advice import Confidence, Reason
from grasp_core.reading.guess.columns.labels import item_of_several
from grasp_core.reading.guess.look import MOST_QUESTIONS, Look
from grasp_core.reading.guess.values import no_raters
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import PLUS


def both_people(item: str, rater: str) -> bool:
    """Whether both columns are named like raters, and neither like items."""
    return all(names.id_score(one, names.RATER) for one in (item, rater)) and not any(
        names.id_score(one, names.ITEM) for one in (item, rater)
    )


def turned_by_name(item: str, rater: str) -> bool:
    """Whether the item is called after who rates others, and the rater after who may be rated."""
    return names.mentions(item, names.RATES) and not names.mentions(rater, names.RATES)


def turned(look: Look, item: str, rater: str) -> bool:
    """Whether other columns say that the two are the other way round."""
    return _describes_raters(look, item) or (not _describes_raters(look, rater) and _holds_texts(look, rater))


def sides_differ(look: Look, item: str, rater: str) -> bool:
    """Whether other columns describe one of the two alone."""
    return _describes_raters(look, rater) != _describes_raters(look, item) or (
        _holds_texts(look, rater) != _holds_texts(look, item)
    )


def _describes_raters(look: Look, key: str) -> bool:
    """Whether a demographic column has one value per value of `key`."""
    some = look.of_some(key)
    return any(
        names.about_raters(name, key) and len(some[name].values) > 1 and some.depends_on(name, key)
        for name in look.columns
        if name != key
    )


def _holds_texts(look: Look, key: str) -> bool:
    """Whether a column of texts has one text per value of `key`."""
    some = look.of_some(key)
    texts = (name for name in look.columns if name != key and look.kind(name) == "text")
    return any(some.depends_on(name, key) for name in texts)


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


class Pair(NamedTuple):
    """Two columns as item and rater."""

    item: str
    rater: str
    score: int
    apart: float
    """Share of the rows that the two tell apart."""


class Ids(NamedTuple):
    """The choice, and why."""

    item: str
    rater: str
    reasons: list[Reason]


def guess_ids(look: Look) -> Ids:
    """Item and rater of a long file; unsure where several columns may be, or none."""
    named = look.named
    if named.item is not None and named.rater is not None:
        return Ids(named.item, named.rater, [])
    by_name = tuple(_named_like(look, role) if given is None else [given] for role, given in _given(look))
    if found := _pairs(look, *by_name):
        return _of_several(look, found)
    items, raters = (
        (pool, _others(look, role, pool) if given is None else [])
        for pool, (role, given) in zip(by_name, _given(look), strict=True)
    )
    for item_pool, rater_pool in ((items[0], raters[1]), (items[1], raters[0]), (items[1], raters[1])):
        if found := _pairs(look, item_pool, rater_pool):
            return _of_several(look, found)
    one = next((name for name in look.columns if _asks(look, name)), None)
    return _none(look) if one is None else guess_ids(_of_one_question(look, one))


def _asks(look: Look, name: str) -> bool:
    """Whether a column names questions, each of which has rows of its own."""
    return names.names_questions(name) and 1 < len(look.texts(name)) <= MOST_QUESTIONS


def _of_one_question(look: Look, name: str) -> Look:
    """The rows of the question that most rows answer: in all of them no item and rater are together once."""
    column = look.whole.column(name)
    rows = np.flatnonzero(column.codes == column.counts().argmax())
    return Look(look.whole.taken(rows), look.named)


def _given(look: Look) -> tuple[tuple[Role, str | None], ...]:
    return ("item", look.named.item), ("rater", look.named.rater)


def _able(look: Look, role: Role) -> list[str]:
    """Columns that may hold ids, for what their values are."""
    taken = set(look.named.fields.values())
    never = ("empty", "time") if role == "item" else ("empty", "time", "link", "text")
    free = (name for name in look.columns if name not in taken)
    return [name for name in free if look.kind(name) not in never and look.empty(name) <= _EMPTY]


def _named_like(look: Look, role: Role) -> list[str]:
    return sorted(
        (name for name in _able(look, role) if _score(name, role)), key=lambda name: -_score(name, role)
    )[:_MAX_COLUMNS]


def _others(look: Look, role: Role, by_name: Sequence[str]) -> list[str]:
    """Columns whose names say nothing against the role."""
    able = (name for name in _able(look, role) if name not in by_name)
    return [name for name in able if not _something_else(look, name)][:_MAX_COLUMNS]


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
    """The pairs that the values bear out, best first."""
    both = ((item, rater) for item in items for rater in raters if item != rater)
    found = [pair for item, rater in both if (pair := _borne_out(look, item, rater)) is not None]
    return sorted(
        found, key=lambda pair: (pair.score, pair.apart >= _APART, _plainness(look, pair)), reverse=True
    )


def _plainness(look: Look, pair: Pair) -> tuple[float, int, float]:
    """Of columns that say the same, ids before names and texts."""
    ids = sum(names.is_id(name) for name in (pair.item, pair.rater))
    return round(pair.apart, 2), ids, -look.length(pair.item) - look.length(pair.rater)


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
    people = not any(given for _, given in _given(look)) and both_people(best.item, best.rater)
    if turned_by_name(best.item, best.rater) if people else not best.score and turned(look, *best[:2]):
        first, best = (pair._replace(item=pair.rater, rater=pair.item) for pair in (first, best))
    if people and not turned_by_name(best.rater, best.item):
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


def _by_id(look: Look, pair: Pair) -> Pair:
    """The same items by their ids rather than by their texts, where a column has them."""
    if look.named.item is not None or not _texts(look, pair.item) or names.is_id(pair.item):
        return pair
    free = (name for name in look.columns if name not in (pair.item, pair.rater))
    others = [name for name in free if not _something_else(look, name)]
    decides = (name for name in others if names.is_id(name) and look.depends_on(pair.item, name))
    if own := next((name for name in decides if _rated(look, name, pair.rater)), None):
        return pair._replace(item=own)  # two items may have one text
    shorter = (name for name in others if look.length(name) < look.length(pair.item))
    plain = (name for name in shorter if look.kind(name) in ("words", "numbers"))
    ids = next((name for name in plain if look.alike(name, pair.item)), None)
    return pair if ids is None else pair._replace(item=ids)


def _texts(look: Look, name: str) -> bool:
    """Whether a column holds what is rated, rather than its id."""
    return look.kind(name) == "text" or names.mentions(name, names.TEXT)


def _rated(look: Look, item: str, rater: str) -> bool:
    """Whether items have several raters each, and raters several items."""
    some = look.of_some(item)
    pairs = some.pairs(item, rater)
    return pairs > _SOME * len(some[item].values) and pairs > len(some[rater].values)


def _reason(look: Look, role: Role, best: Pair, found: Sequence[Pair]) -> Reason:
    own = getattr(best, role)
    rivals = _rivals(look, role, best, found)
    if rivals:
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
    why, confidence = f"its name says {role}", _sure(score > 1)
    if not score and own != getattr(found[0], role):
        other = getattr(found[0], role)
        one_each = len(look[own].values) == len(look[other].values)
        says = "one per" if one_each else "an id that decides"
        return Reason(role, f"{quoted(own)}: {says} {quoted(other)}", "likely")
    if not score and best.apart < _APART:
        why, confidence = "with the other ids it tells most rows apart, but not all", "unsure"
    elif not score and not _known(look, best):
        why, confidence = "nothing says which of the two ids is the item and which the rater", "unsure"
    elif not score and (called := _called(look, role, best)):
        why, confidence = f"the values say so, and {listed(called)} by name", "unsure"
        return Reason(role, f"{quoted(own)}: {why}", confidence, (own, *called))
    elif not score:
        why = "with the other ids it tells the rows apart"
    candidates = tuple(dict.fromkeys((own, best.item, best.rater))) if confidence == "unsure" else ()
    sentence = f"{quoted(own)}: {why}; {number(len(look[own].values), 'value')} in the file"
    return Reason(role, sentence, confidence, candidates)


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


def _called(look: Look, role: Role, best: Pair) -> tuple[str, ...]:
    """Other columns whose names say that they have the role."""
    return tuple(
        name for name in look.columns if name not in (best.item, best.rater) and _score(name, role) > 1
    )


def _sure(yes: bool) -> Confidence:
    return "sure" if yes else "likely"


def _known(look: Look, pair: Pair) -> bool:
    """Whether anything says which of the two is the item."""
    known = pair.score or look.named.item or look.named.rater
    return bool(known or sides_differ(look, pair.item, pair.rater))


def _rivals(look: Look, role: Role, best: Pair, found: Sequence[Pair]) -> list[str]:
    """Other columns that may as well have the role, and do not say the same."""
    own = getattr(best, role)
    able = [pair for pair in found if pair.score == best.score]
    able = [pair for pair in able if pair.apart >= _NEARLY or best.apart < _APART]
    kept: list[str] = []
    for name in dict.fromkeys(getattr(pair, role) for pair in able):
        told = role == "item" and names.is_id(own) and _texts(look, name) and look.depends_on(name, own)
        if name in (best.item, best.rater) or told:
            continue
        if not any(look.alike(name, one) for one in (own, *kept)):
            kept.append(name)
    return kept


def _without_people(look: Look) -> str | None:
    """What there is in place of raters' labels: lists of them, or what was worked out of them."""
    for name in look.columns:
        texts = look.texts(name)
        if texts and all(text.startswith("[") and text.endswith("]") for text in texts):
            return f"{quoted(name)} holds lists of labels, without who gave them"
    made = [name for name in look.columns if names.mentions(name, names.COUNTED)]
    if 2 * len(made) < len(look.columns):
        return None
    return f"{quoted(made[0])} is named like what was counted or worked out for an item"


def _none(look: Look) -> Ids:
    """No two columns are borne out: the likeliest by name, and what is missing."""
    item, rater = look.ids
    if look.named.item is None and rater is not None and not look.unique(rater):
        several = item_of_several(look, rater)
        if several is not None:
            why = f"no column by itself tells what {quoted(rater)} rated, but these do together"
            together = Reason("item", why, "unsure", (several,))
            named = (
                [] if look.named.rater else [Reason("rater", f"{quoted(rater)}: its name says rater", "sure")]
            )
            return Ids(several, rater, [together, *named])
    free = [name for name in look.columns if name not in (item, rater, look.named.label)]
    taken = {item, rater, *free}
    free += [name for name in look.columns if name not in taken]
    why = _without_people(look) or "none tells who gave each label"
    if rater is not None and item is not None:
        why = f"hardly any item has more than one of {quoted(rater)}, or they rate one item each"
    no_items = rater is not None and item is None and not look.unique(rater)
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
