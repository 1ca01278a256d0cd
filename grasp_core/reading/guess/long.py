"""The columns of items, raters and texts in a file with a row per annotation."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from grasp_core.model.annotations import Codes
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.text import listed, number, quoted
from grasp_core.reading.guess.advice import Confidence, Reading, Reason
from grasp_core.reading.guess.doubts import anew_in
from grasp_core.reading.guess.long_label import guess_label, rank_of_label
from grasp_core.reading.guess.look import MOST_QUESTIONS, TEXT_LENGTH, Look
from grasp_core.reading.guess.values import means, no_raters
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import PLUS, runs

_EMPTY = 0.05  # largest share of empty cells in a column of ids
_BLANK = 0.3  # share of blank cells above which ids may be written once for several rows
_MAX_COLUMNS = 12  # largest number of columns that are examined as items, or as raters: the first ones
_SOME, _SEVERAL = 1.05, 1.5
"""Fewest raters per item, on average, for columns of items and raters: if names say so, and if not."""
_APART, _NEARLY = 0.99, 0.95
"""Distinct pairs, as a share of rows, from which two columns are likely, or may be, item and rater."""
_ONCE = 0.67  # distinct pairs of item and rater, as a share of rows, below which most pairs have several rows
_OFFERED = 4  # largest number of columns that are offered as possible items
_FEW_ROWS = 12  # number of rows below which columns may be alike by chance

Role = Literal["item", "rater"]
Ids = tuple[str, str, list[Reason]]  # item column, rater column, and the reasons for them
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
    """Return the reason for an item of several columns: likely if all are named like ids and suffice."""
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
        together = item_of_several(look, best.rater, own) if role == "item" and best.apart < _APART else None
        if together is not None and PLUS in together:
            sentence = f"no column by itself tells what {quoted(best.rater)} rated, but these do together"
            return Reason(role, sentence, "unsure", tuple(dict.fromkeys((together, *both))))
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
        what = "values, without who gave them"
        if inner <= {"{", "["}:
            what = f"{'objects' if inner == {'{'} else 'lists'}, which were not taken apart"
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
    free.sort(key=lambda name: rank_of_label(name) > 0)  # columns that may be the label come last
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
