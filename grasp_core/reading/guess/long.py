"""The columns of a file with a row per annotation: its items and raters, its labels and texts."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from grasp_core.model.annotations import Codes
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.text import agree, listed, number, quoted
from grasp_core.reading.dataset.checks import MAX_CATEGORIES
from grasp_core.reading.formats.shapes.rows import MAX_OPTIONS
from grasp_core.reading.guess.advice import Confidence, Reading, Reason
from grasp_core.reading.guess.look import (
    FREE,
    MOST_QUESTIONS,
    MOST_SHARED,
    OBJECTS,
    TEXT_LENGTH,
    Look,
    anew_in,
    neutral,
)
from grasp_core.reading.guess.values import means, no_raters
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import PLUS, runs, stem

_EMPTY = 0.05
"""Largest share of empty cells in a column of ids."""
_BLANK = 0.3
"""Share of blank cells above which ids may be written once for several rows."""
_MAX_COLUMNS = 12
"""Largest number of columns that are examined as items, or as raters: the first ones."""
_SOME, _SEVERAL = 1.05, 1.5
"""Fewest raters per item, on average, for columns of items and raters: if names say so, and if not."""
_APART, _NEARLY = 0.99, 0.95
"""Distinct pairs, as a share of rows, from which two columns are likely, or may be, item and rater."""
_ONCE = 0.67
"""Distinct pairs of item and rater, as a share of rows, below which most pairs have several rows."""
_OFFERED = 4
"""Largest number of columns that are offered as possible items."""
_FEW_ROWS = 12
"""Number of rows below which columns may be alike by chance."""

Role = Literal["item", "rater"]
Ids = tuple[str, str, list[Reason]]
"""Item column, rater column, and the reasons for them."""
_KINDS: Mapping[Role, frozenset[str]] = {"item": names.ITEM, "rater": names.RATER}
_NEVER: Mapping[Role, Collection[str]] = {
    "item": ("empty", "time"), "rater": ("empty", "time", "link", "text")
}  # fmt: skip
"""Kinds of values that are no ids."""
_NO_ITEMS = (
    "no column looks like items: hardly any value has several raters; what would do is a file with a row per "
    "annotation and a column of the item that it is about"
)


def guess_long(look: Look) -> Reading:
    """Guess the reading of a file with a row per annotation, and say why."""
    item, rater, found = _guess_ids(look)
    look = look.with_joined(item)
    sure = all(reason.confidence == "sure" for reason in found)
    unsure = [one.field for one in found if one.confidence == "unsure"]
    recur = "" if unsure else ": items and raters recur from row to row"
    why = f"the file has a row per annotation{recur}"
    reasons = [Reason("layout", why, "sure" if sure or look.named.long else "likely"), *found]
    some = look.of_some(item)
    label = look.named.label
    if label is None:
        label, reason = guess_label(some, item, rater)
        if "rater" in unsure and (told := means(some, reason.candidates or (label,))) is not None:
            return DataSpec(item=item, rater=rater, label=label), [Reason("rater", no_raters(told), "unsure")]
        refused = any(one.confidence == "unsure" and not one.candidates for one in found)
        reasons += [] if refused and reason.confidence == "unsure" else [reason]
    long = [name for name in look.columns if some.length(name) > TEXT_LENGTH and look.kind(name) != "time"]
    texts = [name for name in long if name not in (item, rater, label) and some.depends_on(name, item)]
    text = max(texts, key=lambda name: (names.mentions(name, names.TEXT), some.length(name)), default=None)
    if text is not None:
        reasons.append(Reason("text", f"{quoted(text)}: long texts, one per item"))
    return DataSpec(item=item, rater=rater, label=label, text=text), reasons


class Pair(NamedTuple):
    """Two columns as item and rater; `apart` is the number of distinct pairs as a share of the rows."""

    item: str
    rater: str
    score: int
    apart: float


def _guess_ids(look: Look) -> Ids:
    """Guess item and rater of a long file; unsure if several columns fit, or none."""
    named = look.named
    if named.item is not None and named.rater is not None:
        return named.item, named.rater, []
    by_name: dict[Role, list[str]] = {}
    others: dict[Role, list[str]] = {}
    taken = set(named.fields.values())
    free = [name for name in look.columns if name not in taken and look.empty(name) <= _EMPTY]
    free = [name for name in free if not (_how_many(look, name) or look.holds_objects(name))]
    for role, never in _NEVER.items():
        given = getattr(named, role)
        by_name[role], others[role] = [given] if given else [], []
        if given is None:
            able = [name for name in free if look.kind(name) not in never]
            telling = sorted(
                (one for one in able if _score(look, one, role)), key=lambda one: -_score(look, one, role)
            )
            by_name[role] = telling[:_MAX_COLUMNS]
            silent = (one for one in able if one not in by_name[role] and not _something_else(look, one))
            others[role] = list(silent)[:_MAX_COLUMNS]
    if any(_score(look, name, "item") == 3 and names.is_id(name) and look.unique(name) for name in free):
        others["rater"] = []  # one row per item means one rater, unless a name says more
    for items, raters in ((by_name, by_name), (by_name, others), (others, by_name), (others, others)):
        if found := _pairs(look, items["item"], raters["rater"]):
            return _ids_of_pairs(look, found)
    for name in look.columns:
        if names.names_questions(name) and 1 < len(look.texts(name)) <= MOST_QUESTIONS:
            # Each question has its own rows, so that an item and a rater occur together several times.
            column = look.whole.column(name)
            rows = np.flatnonzero(column.codes == column.counts().argmax())
            return _guess_ids(Look(look.whole.kept(rows), named))
    return _none(look)


def _score(look: Look, name: str, role: Role) -> int:
    values = look.holds_files(name) if role == "item" else names.words(name) == ("username",)
    return look.id_score(name, _KINDS[role]) or 2 * values


def _how_many(look: Look, name: str) -> bool:
    """Return whether the column gives a number or amount, as ``participants`` or ``max`` of a study."""
    last = ("", *names.words(name))[-1]
    people = _score(look, name, "rater") == 3 and last != names.singular(last)
    measured = names.mentions(name, names.COUNTED | names.SUMS | {"min", "max"})
    return look.kind(name) == "numbers" and (people or measured)


def _corner(name: str) -> bool:
    """Return whether the name is that of a box's corner: ``x_min``."""
    return not {"x", "y", "xmin", "xmax", "ymin", "ymax"}.isdisjoint(names.words(name))


def _something_else(look: Look, name: str) -> bool:
    """Return whether the column is no id, by its name or by its values."""
    words = names.META | names.SECONDARY
    if look.kind(name) == "text" and _SEVERAL * len(look[name].values) < look.n:
        words -= names.WRITTEN  # a recurring text was shown to several raters, and not written by them
    if look.unique(name) or names.mentions(name, words) or names.label_score(name) > 1:
        return True
    return name in look.scales or look.decimals(name) or _of_people(look, name, look.named.rater)


def _of_people(look: Look, name: str, rater: str | None) -> bool:
    """Return whether a column is named like what is known of people, and not rated, as a country may be."""
    rated = rater in look.columns and look.pairs(name, str(rater)) >= _SEVERAL * len(look[str(rater)].values)
    return names.mentions(name, names.DEMOGRAPHIC) and not (rated or names.is_id(name))


def _pairs(look: Look, items: Sequence[str], raters: Sequence[str]) -> list[Pair]:
    """Return the pairs whose values fit items and raters, best first; ids before texts that match them."""

    def rank(pair: Pair) -> tuple[float, ...]:
        ids = sum(names.is_id(name) for name in (pair.item, pair.rater))
        length = look.length(pair.item) + look.length(pair.rater)
        return pair.score, pair.apart >= _APART, round(pair.apart, 2), ids, -length

    both = ((item, rater) for item in items for rater in raters if item != rater)
    found = [pair for item, rater in both if (pair := _fitting_pair(look, item, rater)) is not None]
    return sorted(found, key=rank, reverse=True)


def _fitting_pair(look: Look, item: str, rater: str) -> Pair | None:
    by_name = _score(look, item, "item"), _score(look, rater, "rater")
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


def _ids_of_pairs(look: Look, found: Sequence[Pair]) -> Ids:
    first = found[0]
    best = _by_id(look, first)
    guessed = look.named.item is None and look.named.rater is None
    people = guessed and all(_score(look, one, "rater") and not _score(look, one, "item") for one in best[:2])
    item_rates, rater_rates = (names.mentions(name, names.RATES) for name in best[:2])
    turned = people and item_rates and not rater_rates
    if turned:
        first, best = (pair._replace(item=pair.rater, rater=pair.item) for pair in (first, best))
    elif people and item_rates == rater_rates:
        why = f"{listed(best[:2])} are both named like raters, and either may be rated"
        return *best[:2], [Reason(role, why, "unsure", best[:2]) for role in _KINDS]
    alone = guessed and not best.score and not _rivals(look, "rater", best, [first, *found[1:]])
    if alone and (told := _by_people(look, best)) is not None:
        return told
    reasons = []
    joined = None
    if look.named.item is None and best.apart < _ONCE:
        joined = item_of_several(look, best.rater, best.item)
    item = best.item
    for role in _KINDS:
        if role == "item" and joined is not None:
            why = f"most raters have several rows for {quoted(best.item)}"
            reasons.append(_together(look, joined, best.rater, why, (best.item,)))
            item = joined if reasons[-1].confidence == "likely" else item
        elif getattr(look.named, role) is None:
            reasons.append(_reason(look, role, best, [first, *found[1:]]))
    return item, best.rater, reasons


def _together(look: Look, several: str, rater: str, why: str, alone: tuple[str, ...] = ()) -> Reason:
    """Return the reason for an item of several columns: likely if all are named like ids and suffice.

    Tasks and questions may be questions about an item, and places and times may be its occasions.
    """
    parts, aside = several.split(PLUS), names.META | names.BATCHES | names.ASKED | {"question"}
    kinds = names.ITEM | names.PARTS | names.SHORT
    called = all(
        names.is_id(one) and names.id_score(one, kinds) and not names.mentions(one, aside) for one in parts
    )
    some = look.with_joined(several).of_some(several)
    called = called and anew_in(look, rater) is None  # if rater ids restart, other columns may be items
    if called and some.pairs(several, rater) >= _APART * some.n:
        return Reason("item", f"{why}; {listed(parts)} together name the item")
    return Reason("item", why, "unsure", (several, *alone))


def _by_people(look: Look, pair: Pair) -> Ids | None:
    """Decide which of two ids without telling names is the rater's: it determines columns about people."""
    found = _known_of(look, pair.rater, pair.item), _known_of(look, pair.item, pair.rater)
    about = found[0] or found[1]
    if about is None:
        return None
    item, rater = pair[:2] if found[0] else (pair.rater, pair.item)
    why = Reason("rater", f"{quoted(rater)}: the rows of each have one {quoted(about)}")
    return item, rater, [Reason("item", f"{quoted(item)}: with the raters it tells the rows apart"), why]


def _known_of(look: Look, key: str, other: str) -> str | None:
    """Return a column about people that `key` determines, not `other`; None if both may be people."""
    of_texts = names.word_set("country region locale language culture religion genre langue país")
    known = [name for name in look.columns if names.mentions(name, names.DEMOGRAPHIC - of_texts)]
    about = [name for name in known if len(look.texts(name)) > 1]
    if look.n < _FEW_ROWS or not about or all(look.depends_on(name, other) for name in about):
        return None
    coded = sum(any(map(str.isdigit, text)) for text in look.texts(key))  # or names of people shown
    of_key = all(look.depends_on(name, key) and names.about_raters(name, key) for name in about)
    return about[0] if of_key and coded >= _NEARLY * len(look.texts(key)) else None


def _by_id(look: Look, pair: Pair) -> Pair:
    """Replace an item column of texts, or of values that several items share, by a column of item ids."""
    texts = _texts(look, pair.item) and not names.is_id(pair.item)
    if look.named.item is not None or not (texts or pair.apart < _ONCE):
        return pair
    free = (name for name in look.columns if name not in (pair.item, pair.rater))
    others = [name for name in free if not _something_else(look, name)]
    for name in others:  # two items may have one text
        some = look.of_some(name)
        if names.is_id(name) and look.depends_on(pair.item, name):
            pairs = some.pairs(name, pair.rater)
            if pairs > _SOME * len(some[name].values) and pairs > len(some[pair.rater].values):
                return pair._replace(item=name, apart=pairs / some.n)
    shorter = (name for name in others if texts and look.length(name) < look.length(pair.item))
    plain = (name for name in shorter if look.kind(name) in ("words", "numbers"))
    ids = next((name for name in plain if look.alike(name, pair.item)), None)
    return pair if ids is None else pair._replace(item=ids)


def _texts(look: Look, name: str) -> bool:
    return look.kind(name) == "text" or names.mentions(name, names.TEXT)


def _reason(look: Look, role: Role, best: Pair, found: Sequence[Pair]) -> Reason:
    own, other = getattr(best, role), getattr(found[0], role)
    if rivals := _rivals(look, role, best, found):
        both = tuple(dict.fromkeys((own, *(() if best.score else best[:2]), *rivals)))
        return Reason(role, f"{listed(both)} may each be the {role}s", "unsure", both)
    if role == "item" and (crossing := _crossing(look, best)):
        several = PLUS.join([own, *crossing])
        sentence = f"{listed([own, *crossing])} are named like items, and none of them decides another"
        return Reason(role, sentence, "unsure", (several, own, *crossing))
    score = _score(look, own, role)
    if not best.score and look.n < _FEW_ROWS:
        why = f"{number(look.n, 'row')} are too few to tell ids by their values alone"
        either = tuple(dict.fromkeys((own, *best[:2])))  # each may be the items', and the raters'
        return Reason(role, why, "unsure", either, explained=True)
    if not score and own != other:
        one_each = len(look[own].values) == len(look[other].values)
        says = "one per" if one_each else "an id that decides"
        return Reason(role, f"{quoted(own)}: {says} {quoted(other)}", "likely")
    free = (name for name in look.columns if name not in best[:2])
    called = tuple(name for name in free if _score(look, name, role) > 1)
    confidence: Confidence = "sure" if score > 1 else "likely"
    says = "its name says" if names.id_score(own, _KINDS[role]) else "its values are those of"
    why, candidates = f"{says} {role}", tuple(dict.fromkeys((own, *best[:2])))
    if not score and best.apart < _APART:
        why, confidence = "with the other ids it tells most rows apart, but not all", "unsure"
        known: Role = "rater" if role == "item" else "item"
        candidates = tuple(
            name for name in candidates if name != getattr(best, known) or _score(look, name, known) <= 1
        )
    elif not (score or best.score or look.named.item or look.named.rater):
        why, confidence = "nothing says which of the two ids is the item and which the rater", "unsure"
    elif not score and called:
        why = f"the values say so, and {listed(called)} by name"
        return Reason(role, f"{quoted(own)}: {why}", "unsure", (own, *called))
    elif names.words(own) == ("id",) and role == "rater" and (about := _known_of(look, own, best.item)):
        why, confidence = f"the rows of each have one {quoted(about)}", "likely"
    elif not score and role == "rater" and best.score:  # it may also be the system judged
        why, confidence, candidates = "are these the people who gave the labels", "unsure", (own,)
    elif not score:
        why = "with the other ids it tells the rows apart"
    sentence = f"{quoted(own)}: {why}; {number(len(look[own].values), 'value')} in the file"
    return Reason(role, sentence, confidence, candidates if confidence == "unsure" else ())


def _crossing(look: Look, best: Pair) -> list[str]:
    """Return other columns named like items that divide rows otherwise, as sentences numbered by document."""
    some = look.of_some(best.item)
    free = (name for name in look.columns if name not in (best.item, best.rater, look.named.label))
    named = (
        name for name in free if _score(look, name, "item") == 3 and not names.mentions(name, names.BATCHES)
    )
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
    """Return other columns that fit the role as well and do not match the best one to one."""
    own = getattr(best, role)
    able = [pair for pair in found if pair.score == best.score]
    able = [pair for pair in able if pair.apart >= _NEARLY or best.apart < _APART]
    kept: list[str] = []
    for name in dict.fromkeys(getattr(pair, role) for pair in able):
        told = role == "item" and names.is_id(own) and _texts(look, name) and look.depends_on(name, own)
        if name not in best[:2] and not told and not any(look.alike(name, one) for one in (own, *kept)):
            kept.append(name)
    return kept


def _none(look: Look) -> Ids:
    item, rater = look.ids
    said = names.LABEL | names.RATER
    listings = [name for name in look.columns if look.holds_lists(name) and {*look.texts(name)} != {"[]"}]
    listings.sort(key=lambda name: said.isdisjoint(map(names.singular, names.words(name))))
    listing = next(iter(listings), None)
    recurring = rater is not None and not look.unique(rater) and not look.holds_lists(rater)
    if look.named.item is None and rater is not None and recurring:
        several = item_of_several(look, rater)
        if several is not None:
            why = f"with {quoted(rater)} it tells the rows apart"
            if PLUS in several:
                why = f"no column by itself tells what {quoted(rater)} rated, but these do together"
            reasons = [_together(look, several, rater, why)]
            if not look.named.rater:
                reasons.append(Reason("rater", f"{quoted(rater)}: its name says rater", "sure"))
            return several, rater, reasons
    why = "none tells several raters of an item apart"
    measured = [name for name in look.columns if look.decimals(name)]
    if 2 * len(measured) > len(look.columns):
        why = means(look, measured, 0.5) or why
    made = [name for name in look.columns if names.mentions(name, names.AGGREGATE) and not _corner(name)]
    if 2 * len(made) >= len(look.columns):
        why = f"{quoted(made[0])} is named like what was counted or worked out for an item"
    if listing is not None:
        inner = {text[1:2] for text in look.texts(listing)}
        what = "objects" if inner == {"{"} else "lists"
        what = (
            f"{what}, which were not taken apart" if inner <= {"{", "["} else "values, without who gave them"
        )
        why = f"{quoted(listing)} holds lists of {what}"
    people = (
        name for name in look.columns if names.mentions(name, names.PEOPLE) and "your" in names.words(name)
    )
    who = rater or next(people, None)
    if who is not None and look.holds_lists(who):
        why = f"{quoted(who)} holds lists, several raters in a row, which were not taken apart"
    elif who is not None and item is not None:
        why = f"hardly any item has more than one of {quoted(who)}, or they rate one item each"
        blank = round(look.empty(item) * look.n)
        if blank > _BLANK * look.n:
            rows = number(look.n, "row")
            why = f"{quoted(item)} is blank in {blank:,} of {rows}; fill it in, such as with the value above"
        if len(look.texts(who)) == 1:
            why = f"{quoted(who)} holds one alone ({listed(sorted(look.texts(who)))})"
    no_items = item is None and (recurring or (rater is not None and look.named.rater is not None))
    free = [name for name in look.columns if name not in (item, rater, look.named.label)]
    free += [name for name in look.columns if name not in (item, rater, *free)]
    crossed = _crossed(look, str(rater)) if no_items else ()
    free.sort(key=lambda name: _rank(name) > 0)  # columns that may be the label come last
    item = item or (crossed[0] if crossed else free.pop(0))
    rater = rater or free.pop(0)
    told = no_raters(why) if who is None else no_raters(why, "nobody can be compared")
    missing = Reason("rater", told, "unsure")
    if no_items:
        why = "several raters have the same values there, and some raters one more than once"
        missing = Reason("item", why if crossed else _NO_ITEMS, "unsure", crossed)
    return item, rater, [missing] if missing.field not in look.named.fields else []


def _crossed(look: Look, rater: str) -> tuple[str, ...]:
    """Return columns with several values per rater and several raters per value, most pairs first."""
    able = {}
    for name in look.columns:
        other = look.unique(name) or look.decimals(name) or name in look.scales
        aside = names.DEMOGRAPHIC | names.SECONDARY | names.GIVEN | {"label", "rating", "score"}
        other = other or names.mentions(name, aside) or _how_many(look, name)
        if name != rater and not other and look.kind(name) != "empty":
            most = max(len(look[rater].values), len(look[name].values))
            least = _NEARLY * look.n if look.kind(name) == "time" else 0.0  # days may be what was rated
            if (pairs := look.pairs(name, rater)) >= max(least, _SEVERAL * most):
                able[name] = pairs
    return tuple(sorted(able, key=lambda name: -able[name])[:_OFFERED])


# Items of several columns, and labels

_MOST_COLUMNS, _MOST_TOGETHER = 10, 4
_ROWS, _TEXTS = 20_000, 20


def item_of_several(look: Look, rater: str, known: str | None = None) -> str | None:
    """Return the fewest columns, `known` among them, that together are the item, as ``a+b``; else None."""
    some = look.of_some(rater)
    rows = np.flatnonzero(some[rater].codes % -(-some.n // _ROWS) == 0)
    codes = some[rater].codes[rows]
    able = [name for name in look.columns if name != rater and _may_be_part(look, name, rater)]
    kinds, trials = names.ITEM | names.PARTS, names.word_set("trial trials")  # their numbers may be an order
    able.sort(
        key=lambda name: (names.mentions(name, trials), -names.id_score(name, kinds), not names.is_id(name))
    )
    texts = {name: look.texts(name) for name in able}
    shown = tuple(  # all that raters saw, together
        name
        for name, own in texts.items()
        if len(own) > _TEXTS and 2 * sum(" " in text for text in own) > len(own)
    )
    called = {name: names.id_score(name, kinds) and not names.mentions(name, trials) for name in able}
    sizes = range(2, _MOST_TOGETHER + 1)
    sets = (list(combinations(able[:_MOST_COLUMNS], size)) for size in sizes)
    for alike in (*([[shown]] if len(shown) > 1 else []), *sets):
        fitting: list[tuple[int, int, tuple[str, ...]]] = []
        for chosen in alike:
            if known is not None and known not in chosen:
                continue
            items = _codes([some[name].codes[rows] for name in chosen])
            n_items = int(items.max()) + 1
            pairs = int(_codes([items, codes]).max()) + 1
            if pairs >= max(_NEARLY * rows.size, _SEVERAL * n_items):
                fitting.append((-sum(map(bool, map(called.get, chosen))), n_items, chosen))
        if fitting:  # the set with the fewest items: answers would make several of one
            chosen = min(fitting, key=lambda one: one[:2])[2]
            like = (run for run in runs(able) if not set(run).isdisjoint(chosen))  # image1, image2, image3
            chosen = tuple(dict.fromkeys((*chosen, *(name for run in like for name in run))))
            whole = (one for one in chosen if all(look.depends_on(other, one) for other in chosen))
            return next(whole, None) or _with_versions(look, chosen, able, rater)
    return None


def _with_versions(look: Look, chosen: Sequence[str], able: Sequence[str], rater: str) -> str:
    """Join column names, with columns of versions: each rater saw one per item, and all equally often."""
    whole = PLUS.join(name for name in look.columns if name in chosen)
    joined = look.with_joined(whole)
    for name in able:
        if name not in chosen and joined.alternates(name, whole, rater):
            return _with_versions(look, (*chosen, name), able, rater)
    return whole


def _codes(parts: Sequence[Codes]) -> Codes:
    whole = parts[0]
    for part in parts[1:]:
        _, whole = np.unique(whole.astype(np.int64) * (int(part.max()) + 1) + part, return_inverse=True)
    return whole


def _may_be_part(look: Look, name: str, rater: str) -> bool:
    """Return whether the column may be part of an id: neither an answer, nor about the rater or the row."""
    if (
        PLUS in name
        or name in look.scales
        or look.unique(name)
        or look.depends_on(name, rater)
        or look.kind(name) in ("time", "link")
        or look.decimals(name)
        or look.holds_objects(name)
        or _how_many(look, name)
        or _of_people(look, name, rater)
    ):
        return False
    aside = names.SECONDARY | names.META - names.PHASES - names.OCCASIONS
    if names.mentions(name, aside):
        return False
    asked = names.mentions(name, names.ASKED) or names.names_questions(name)
    return not names.names_answer(name) and not asked and look.empty(name) <= _EMPTY


_OWN, _ROWS_OF_LABELS = 0.9, 4
"""Share of rows with distinct values within items or raters of so many rows, from which it is no label."""
_PREDICTED = [("prediction",), ("predictions",), ("predicted",), ("pred",)]
"""Last words in names of a model's labels; raters gave these only if no other column has labels."""
_FEW = 20
_CODES, _LEAST_CODES = 0.85, 7
"""Share and number of distinct answers above which answers are initials or codes."""
_ASKED = names.LABEL | names.ASKED | {"q", "question", "item"}
"""Beginnings of numbered names of questions."""
_ANSWERED = 0.25
"""Fewest answers to a question that may be the label, as a share of the most answered question's."""


def guess_label(look: Look, item: str, rater: str) -> tuple[str, Reason]:
    """Guess the label column and say why; unsure if several fit equally, or none."""
    taken = {item, rater, *item.split(PLUS), *rater.split(PLUS)}
    able = [name for name in look.columns if name not in taken and _may_label(look, name)]
    free = [name for name in able if _varies(look, name, item) and _varies(look, name, rater)]
    free = [name for name in free if not names.names_questions(name)] or free
    beside = [name for name in free if names.words(name)[-1:] not in _PREDICTED]
    free = beside if any(names.label_score(name) > 1 for name in beside) else free
    called = {names.words(name): name for name in free}
    free = [name for name in free if not _made_of_another(look, name, called)]
    if not free:
        return _named_only(look, able, item, rater, taken)
    ranks = {name: _rank(name) for name in free}
    top = max(ranks.values())
    best = _different(look, _best(look, ranks, top))
    if len(best) > 1 or top < 0:
        taken = set(best)
        others = [name for name, rank in ranks.items() if name not in taken and 0 <= rank < top]
        many = {name: len(look[name].values) > _FEW for name in ranks}  # these come last
        candidates = (*sorted(best, key=many.__getitem__), *sorted(others, key=many.__getitem__))
        why = f"{listed(candidates)} vary within items and within raters, as labels do"
        alike = max(map(len, runs(candidates)), default=0) == len(candidates)
        rated = alike and stem(candidates[0]) not in _ASKED
        if rated:
            why = "if each is another that was rated, write a row for each, with its name in a column"
        return candidates[0], Reason("label", why, "unsure", candidates, explained=rated)
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


def among_questions(look: Look, spec: DataSpec, questions: Sequence[str]) -> Reading:
    """Choose the label among the questions of a known format; unsure if several fit equally."""
    answered = {name: look.n * (1 - look.empty(name)) for name in questions}
    recurring = [str(key) for key in (spec.item, spec.rater) if not look.unique(str(key))]
    asked, able = [], []
    for name in questions:  # answers must recur, and be about neither rater, time nor the answer itself
        most = MAX_CATEGORIES if look.kind(name) == "numbers" else MAX_OPTIONS
        aside = names.mentions(name, names.DEMOGRAPHIC | names.META | names.SECONDARY) or names.is_id(name)
        fixed = any(look.depends_on(name, key) for key in recurring)
        if len(look.texts(name)) >= 2 and not (aside or fixed):
            asked.append(name)
            if len(look.texts(name)) <= min(most, answered[name] / 2):
                able.append(name)
    if not able and len(asked) > 1:  # of few rows hardly any answer recurs
        if all(len(look.texts(name)) > max(_CODES * answered[name], _LEAST_CODES) for name in asked):
            why = f"{listed(asked)} hold other texts in nearly each row, as codes do"
            return spec, [Reason("label", f"no column looks like labels: {why}", "unsure")]
        return spec, [Reason("label", f"{listed(asked)} are questions alike", "unsure", tuple(asked))]
    fullest = max((answered[name] for name in able), default=0.0)
    able = [name for name in able if answered[name] >= _ANSWERED * fullest]
    top = max(map(_rank, able), default=0)
    best = _different(look, [name for name in able if _rank(name) == top])
    if not best:
        told = [name for name in questions if not any(look.depends_on(name, key) for key in recurring)]
        return spec, _no_question(look, spec, told if spec.label in told else questions, asked)
    label = spec.label if spec.label in best else best[0]
    spec = replace(spec, label=label)
    if len(best) > 1:
        candidates = (label, *(name for name in best if name != label))
        return spec, [Reason("label", f"{listed(best)} are questions alike", "unsure", candidates)]
    return spec, [Reason("label", f"{quoted(label)}: of what was asked, it has options and most answers")]


def _no_question(look: Look, spec: DataSpec, questions: Sequence[str], asked: Sequence[str]) -> list[Reason]:
    """Return the doubt about a label that is none of those `asked`, or the name of each rater."""
    label, rater = str(spec.label), str(spec.rater)
    able = [name for name in questions if names.is_id(name) and not look.unique(name)]
    coded = tuple(name for name in able if 2 <= len(look.texts(name)) <= MAX_CATEGORIES)
    if label in questions and (names.is_id(label) or (coded and label not in asked)):
        why = f"no column looks like labels: {listed(questions, 5)} hold ids, texts or one value"
        if coded:
            why = f"{listed(coded)} {agree(len(coded), 'is', 'are')} named like ids, and may number labels"
        return [Reason("label", why, "unsure", coded)]
    if len(look[rater].values) > 2 and label in look.columns and look.alike(label, rater):
        why = f"no column looks like labels: {quoted(label)} has one value for each rater, as a name is"
        return [Reason("label", why, "unsure")]
    return []


def _rank(name: str) -> int:
    """Rank a name as a label's; below 0 if it names something else that raters may be asked."""
    score = names.label_score(name)
    if score == 2 and not names.names_answer(name):  # a category may be a question
        return 0
    if score > 1:
        return 0 if names.mentions(name, names.MACHINE) else score
    return -1 if names.mentions(name, names.DEMOGRAPHIC | names.SECONDARY) else score


def _best(look: Look, ranks: Mapping[str, int], top: int) -> list[str]:
    """Return columns that may be the label, also with names that say so less plainly than others."""
    plainest = [name for name, rank in ranks.items() if rank == top]
    measured = all(_measured(look, name) for name in plainest)
    asked_again = _shorter(ranks) if top == 2 else frozenset()

    def as_good(name: str, rank: int) -> bool:
        if top == 4 and names.mentions(name, names.GIVEN):  # the plainest may name what was shown
            return rank == 3
        return rank >= 0 and (measured or (rank == 0 and name in asked_again))

    return [name for name, rank in ranks.items() if rank == top or as_good(name, rank)]


def _measured(look: Look, name: str) -> bool:
    """Return whether a column has numbers with decimals that hardly recur, as a model's scores."""
    return look.decimals(name) and len(look.texts(name)) > MOST_SHARED * look.n


def _shorter(able: Collection[str]) -> frozenset[str]:
    """Return names whose words are all in a longer name: ``toxicity`` beside ``toxicity_score``."""
    words = {name: frozenset(names.words(name)) for name in able}
    having: defaultdict[str, set[frozenset[str]]] = defaultdict(set)
    for found in words.values():
        for word in found:
            having[word].add(found)
    few = {name: min((having[word] for word in found), key=len, default=()) for name, found in words.items()}
    return frozenset(name for name, found in words.items() if any(found < other for other in few[name]))


def _may_label(look: Look, name: str, least: int = 2) -> bool:
    """Return whether the values may be labels: no texts, times, addresses or ids."""
    aside = names.META | names.ADDRESS
    if look.kind(name) == "numbers":
        aside -= names.WRITTEN  # such as a French or German ``note``, which is a mark
    if (names.is_id(name) and not names.names_label(name)) or names.mentions(name, aside):
        return False
    index = neutral(name) or names.is_index(name)
    if index and look.kind(name) == "numbers" and not all(map(neutral, look.columns)):
        return False  # row numbers, which programs save without a name
    kind, values = look.kind(name), len(look.texts(name))
    if kind in ("empty", "time", "link", "text") or values < least or look.holds_objects(name):
        return False
    if kind == "numbers":
        return values <= MAX_CATEGORIES or _rank(name) >= 0
    return values <= MAX_CATEGORIES and (values <= 3 or values <= MOST_SHARED * look.n)


def _varies(look: Look, name: str, key: str) -> bool:
    """Return whether values differ within `key`, and recur there."""
    if look.depends_on(name, key) or look.numbered(name, key):
        return False
    often = look.n / len(look[key].values)
    if look.kind(name) == "numbers" and _rank(name) >= 0:  # sliders seldom repeat
        return True
    return often < _ROWS_OF_LABELS or look.pairs(name, key) < _OWN * look.n


def _different(look: Look, columns: Sequence[str]) -> list[str]:
    """Return the columns that match no earlier one to one, as codes beside their names do."""
    kept: dict[bytes, str] = {}
    for name in columns:  # rows of equal texts, whatever these are: for each row, the first row with its text
        _, first, text = np.unique(look[name].codes, return_index=True, return_inverse=True)
        kept.setdefault(hashlib.sha256(first[text].tobytes()).digest(), name)
    return list(kept.values())


def _made_of_another(look: Look, name: str, called: Mapping[tuple[str, ...], str]) -> bool:
    """Return whether a column is a coarser form of another by its name: ``rating_binary`` of ``rating``.

    - `called`: columns by the words of their names.
    """
    own = names.words(name)
    others = (called[own[:width]] for width in range(1, len(own)) if own[:width] in called)
    return any(look.depends_on(name, other) and not look.depends_on(other, name) for other in others)


def _named_only(
    look: Look, able: Sequence[str], item: str, rater: str, taken: Collection[str]
) -> tuple[str, Reason]:
    """Return a column whose name says label, or a question, if no column varies within items and raters."""
    others = [name for name in look.columns if name not in taken]
    free = [name for name in able if not any(look.depends_on(name, key) for key in (item, rater))]
    named = [name for name in others if _rank(name) > 1 and _may_label(look, name, least=1)]
    if len(named) == 1 and (len(look.texts(named[0])) == 1 or not look.depends_on(named[0], rater)):
        why = f"{quoted(named[0])}: its name says label, though it does not vary within items"
        return named[0], Reason("label", why, "likely")
    best = (named or list(able) or others or list(look.columns))[0]
    why = "no column looks like labels: none of few values varies within items and within raters"
    aside = [
        name
        for name in others
        if name not in able
        and not (look.unique(name) or look.holds_objects(name))
        and 2 <= len(look.texts(name)) <= MAX_CATEGORIES
        and all(_varies(look, name, key) for key in (item, rater))
    ]
    if not named and aside:  # such as a question about a comment, which a column of comments is called, too
        why = f"by its values {listed(aside)} may hold them"
        why = why if any(_rank(name) > 1 for name in aside) else f"no column is named like labels; {why}"
        return aside[0], Reason("label", why, "unsure", tuple(aside))
    unfilled = [name for name in others if _rank(name) > 1 and look.kind(name) == "empty"]
    if unfilled:  # such as a sheet to vote on
        why = f"no column looks like labels: {quoted(unfilled[0])} is empty in every row; fill it in"
    for what, holds in ((FREE, look.free_text), (OBJECTS, look.holds_objects)):
        found = [name for name in others if holds(name) and not look.depends_on(name, item)]
        if not named and found:
            shown = f"{listed(found, 3)} {agree(len(found), 'holds', 'hold')} {what}"
            why = f"no column looks like labels: {shown}"
    return best, Reason("label", why, "unsure", tuple(named or free))
