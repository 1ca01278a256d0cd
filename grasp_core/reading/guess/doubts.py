"""Doubts about a long file: ids that restart, places that people take in turn, spans, several questions."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from grasp_core.model.annotations import Codes
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.text import agree, listed, number, quoted
from grasp_core.reading.guess.advice import Named, Reason
from grasp_core.reading.guess.look import MOST_PLACES, MOST_QUESTIONS, NEARLY_ALL, TEXT_LENGTH, Look
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import PLUS, parts_of
from grasp_core.reading.table.table import Table

FREE = "free answers, hardly any of them twice"
OBJECTS = "objects in JSON, such as marked spans, or several answers that need a column each"
_MOST_SHOWN = 4
_LONGEST = 10_000_000  # limit for positions of characters in a text; larger numbers are times
_MANY_ITEMS = 10
"""Fewest items for each numbered worker if workers who answered all may be places that several took."""
_MOST_ABOUT = 20  # largest number of columns about people that are compared with all other columns
_SEVERAL, _RECURRING = 1.5, 1.5
"""Texts per id, and rows per text of an id, from which an id has several texts that several raters rated."""
_ONE_ID = 1.2  # most ids per text if texts belong to items; texts that raters write recur with any id
_GAPS = 1.5
"""Largest ratio of a study's highest rater number to its number of raters: some people are left out."""
_SHARE, _LEAST = 0.2, 2
"""Share and number of recurring ids with contradictions from which these are several people, no mistakes."""


def doubted(look: Look, spec: DataSpec, named: Named, *, sure: bool = False) -> Iterator[Reason]:
    """Yield doubts about a long file's ids, unless they are `sure`, and labels, except named columns."""
    if spec.layout != "long" or spec.item is None or spec.rater is None:
        return
    some = look.of_some(spec.item)
    found = () if sure else _items(some, spec.item, spec)
    # A user who named the item knows what it is, and is only informed of what differs within it.
    yield from found if named.item is None else (replace(one, confidence="likely") for one in found)
    yield from _both_orders(some, spec.item)
    if named.rater is None and not sure:
        yield from _people(look.of_some(spec.rater), spec.rater, spec)
    elif named.rater is None and (name := _differing(look.of_some(spec.rater), spec)) is not None:
        why = f"if {listed(sorted(look.texts(spec.rater)), 3)} are the same people in all rows"
        yield Reason("rater", f"{why}, although {quoted(name)} differs within each", "unsure", (spec.rater,))
    if named.label is None:
        if some.pairs(spec.item, spec.rater) < NEARLY_ALL * some.n:
            yield from _marked_spans(look)
        yield from _questions_in_rows(look, some, spec)
    elif named.label in look.columns and look.free_text(named.label):
        yield Reason("label", f"{quoted(named.label)}: {FREE}, on which raters can hardly agree")


def doubts(table: Table, spec: DataSpec) -> list[Reason]:
    """Return a doubt if a known format's label column has objects or free answers, which are no labels."""
    if spec.layout != "long" or spec.label is None or spec.label not in table.columns:
        return []
    look = Look(table)
    objects = look.holds_objects(spec.label)
    if not (objects or look.free_text(spec.label)):
        return []
    others = tuple(name for name in spec.labels if name != spec.label)
    what = OBJECTS if objects else FREE
    why = f"no column looks like labels: {quoted(spec.label)} holds {what}"
    return [Reason("label", why, "unsure", others)]


def contradicted(look: Look, spec: DataSpec) -> Iterator[Reason]:
    """Yield reasons why columns about people are no axes: a few raters have several values."""
    if spec.layout != "long" or spec.rater is None or spec.rater not in look.columns:
        return
    look = look.of_some(spec.rater)
    raters = look[spec.rater]
    for name in _about_people(look, spec.rater, spec):
        several = int((_values_of_each(look, name, raters.codes) > 1).sum())
        if 0 < several <= _SHARE * len(raters.values):
            why = (
                f"{quoted(name)} is none: {number(several, 'rater')} of {len(raters.values)} "
                f"{'has' if several == 1 else 'have'} several values"
            )
            yield Reason("axes", why)


def _questions_in_rows(look: Look, some: Look, spec: DataSpec) -> Iterator[Reason]:
    item, label = str(spec.item), str(spec.label)
    for name in look.columns:
        if name in (item, spec.rater, *spec.labels) or not 1 < len(look.texts(name)) <= MOST_QUESTIONS:
            continue
        answered = np.unique(look[name].codes[~look[label].among([""])])
        asked = sorted({look[name].values[code] for code in answered} - {""})
        of_items = some.depends_on(name, item)
        few = min(len(look.texts(label)), len(look[item].values))
        apart = of_items and 2 * len(asked) <= few and some.depends_on(name, label)
        if len(asked) < 2 or (not apart and (of_items or not names.names_questions(name))):
            continue
        does = "has labels of its own for each of its values" if apart else "names what each row answers"
        drop = " ".join(f"--drop {shlex.quote(f'{name}={text}')}" for text in asked[1:_MOST_SHOWN])
        more = "..." if len(asked) > _MOST_SHOWN else ""
        why = (
            f"{quoted(name)} {does} ({listed(asked, 3)}), so that "
            f"{quoted(str(spec.label))} holds several questions; write a column for each, or leave all but "
            f"one of them out, on Data under Leave out or by {drop}{more}, and say that this is the label"
        )
        yield Reason("label", why, "unsure", (str(spec.label),))
        return


def _marked_spans(look: Look) -> Iterator[Reason]:
    """Yield a doubt if labels mark spans: two columns are whole numbers, and no end is before its start."""

    def places(kinds: frozenset[str]) -> list[str]:
        called = (name for name in look.columns if not kinds.isdisjoint(names.words(name)))
        able = (name for name in called if not names.mentions(name, names.META - {"position"}))
        return [
            name
            for name in able
            if all(one.isascii() and one.isdigit() and int(one) < _LONGEST for one in look.texts(name))
        ]

    for start, end in product(places(names.STARTS), places(names.ENDS)):
        pairs = set(zip(look[start].codes.tolist(), look[end].codes.tolist(), strict=True))
        texts = ((look[start].values[one], look[end].values[other]) for one, other in pairs)
        if all(int(one) <= int(other) for one, other in texts if one and other):
            why = (
                f"no column looks like labels: {quoted(start)} and {quoted(end)} mark spans, several of "
                "one rater in one item, on which no agreement is computed"
            )
            yield Reason("label", why, "unsure")
            return


def _items(look: Look, item: str, spec: DataSpec) -> Iterator[Reason]:
    ids = len(look[item].values)
    # A text was not rated if a label or a rater determines it, or if it determines a label.
    labels = [label for label in spec.labels if label in look.columns]
    texts = []
    for name in look.columns:
        if name in (item, spec.rater, *spec.labels) or look.depends_on(name, item):
            continue
        pairs, values = look.pairs(name, item), len(look[name].values)
        if pairs < _SEVERAL * ids:
            continue
        in_sets = names.id_score(name, names.SETS) and not look.unique(name)
        if in_sets and 1 < values <= MOST_PLACES:
            why = f"the same ids are there in several {quoted(name)}"
        elif look.alternates(name, item, str(spec.rater)):
            why = f"each rater saw it with one {quoted(name)}, and all of these as often"
        else:
            recurs = look.length(name) > TEXT_LENGTH and look.kind(name) in ("words", "text")
            if (
                recurs
                and look.n >= _RECURRING * pairs
                and pairs <= _ONE_ID * values
                and not any(look.depends_on(name, key) for key in (str(spec.rater), *labels))
                and not any(look.depends_on(label, name) for label in labels)
            ):
                texts.append(name)
            continue
        yield Reason("item", f"{quoted(item)}: {why}", "unsure", (f"{item}{PLUS}{name}", item))
    if texts:
        why = f"one id has several texts in {listed(texts, 3)}, that recur"
        yield Reason("item", f"{quoted(item)}: {why}", "unsure", (PLUS.join([item, *texts]), item))
        return


def _both_orders(look: Look, item: str) -> Iterator[Reason]:
    """Yield a note if an item of two columns is a pair, and some pairs were shown in both orders."""
    if len(parts := parts_of(item, {*look.columns} - {item})) == 2:
        pairs = set(zip(*(look[name].cells for name in parts), strict=True))
        if both := sum((other, one) in pairs for one, other in pairs if one < other):
            why = f"{number(both, 'pair')} {agree(both, 'occurs', 'occur')} in both orders, as two items"
            yield Reason("item", f"{why}; if the order means nothing, write each pair in one order")


def _people(look: Look, rater: str, spec: DataSpec) -> Iterator[Reason]:
    """Yield a doubt if the rater id identifies a person only together with another column."""

    def apart_by(place: str, why: str) -> Reason:
        return Reason("rater", f"{quoted(rater)}{why}", "unsure", (f"{rater}{PLUS}{place}", rater))

    if (place := anew_in(look, rater)) is not None:
        yield apart_by(place, f" counts anew in each {quoted(place)}, so that one id may be several people")
        return
    roles = any(text.casefold() == "self" for text in look.texts(rater))  # of other people for each ratee
    if roles or _are_places(look, rater, str(spec.item)):
        shown = listed(sorted(look.texts(rater)), 3)
        why = f"if {shown} are the same people in all rows, and no places of a task that others take in turn"
        yield Reason("rater", why, "unsure", (rater,))
        return
    about = _about_people(look, rater, spec)[:_MOST_ABOUT]
    raters, taken = look[rater].codes, (rater, spec.item, spec.text, *spec.labels)
    several_of = {name: _values_of_each(look, name, raters) > 1 for name in about}
    for place in look.columns if about else ():
        values = len(look[place].values)
        if place in taken or not 1 < values <= MOST_PLACES or look.depends_on(place, rater):
            continue
        pairs = raters.astype(np.int64) * values + look[place].codes
        both: Codes = np.unique(pairs, return_inverse=True)[1]
        if 2 * (int(both.max()) + 1) > look.n:
            continue
        recurring = _values_of_each(look, place, raters) > 1
        for name, several in several_of.items():
            apart = name != place and bool((_values_of_each(look, name, both) <= 1).all())
            if apart and several.sum() >= max(_LEAST, _SHARE * recurring.sum()):
                why = f"as {quoted(name)} differs with {quoted(place)}"
                yield apart_by(place, f": one id may be several people, {why}")
                return


def _differing(look: Look, spec: DataSpec) -> str | None:
    """Return what is known of people and differs within each of numbered raters and within items, or None."""
    rater, item = str(spec.rater), str(spec.item)
    recipe = look.whole.recipe  # of a tool's export these may be questions about a text, such as its language
    if recipe is None or "columns per rater" not in recipe.name or look.integers(rater, named=True) is None:
        return None
    about = (name for name in look.columns if names.mentions(name, names.DEMOGRAPHIC) and name != spec.label)
    free = (name for name in about if not look.depends_on(name, item))
    return next((name for name in free if (_values_of_each(look, name, look[rater].codes) > 1).all()), None)


def _are_places(look: Look, rater: str, item: str) -> bool:
    """Return whether few numbered raters of many more items may be places that people took in turn.

    Workers of a crowd are if each answered nearly everything, and so are those of a crowd, or without names,
    of whom each item has the first ones. Of other raters each item must have the first one, two, three...:
    a second coder of a part has the first one's items, too.
    """
    numbers, places = look.integers(rater, named=True), len(look[rater].values)
    items = len(look[item].values)
    if numbers is None or not 1 < places <= MOST_QUESTIONS or items < _MANY_ITEMS * places:
        return False
    if int(numbers.max() - numbers.min()) + 1 != places or numbers.min() > 1:
        return False
    nameless = all(text.strip().casefold().startswith("anon") for text in look.texts(rater))
    crowd = nameless or names.mentions(rater, names.CROWD)
    if crowd and look.pairs(item, rater) >= NEARLY_ALL * items * places:
        return True
    codes = look[item].codes
    each, last = _values_of_each(look, rater, codes), np.zeros(items, dtype=np.int64)
    np.maximum.at(last, codes, numbers - numbers.min() + 1)
    sizes = len(np.unique(each))
    return bool((each == last).all()) and sizes > (1 if crowd else 2)


def anew_in(look: Look, rater: str) -> str | None:
    """Return the column of studies or data sets in each of which raters count from 1, or None."""
    known = names.STUDIES | (names.SETS - names.word_set("subset"))  # one panel may share subsets
    # The stage of an experiment is no experiment.
    studies = (
        one for one in look.columns if names.mentions(one, known) and not names.mentions(one, names.TIMES)
    )
    return next((place for place in studies if _counted_anew(look, rater, place)), None)


def _counted_anew(look: Look, rater: str, place: str) -> bool:
    """Return whether most values of `place` have raters 1, 2, 3... (or from 0, with gaps), some in several.

    If all data sets have the same number of raters, one panel labelled them.
    """
    numbers = look.integers(rater, named=True)
    if numbers is None or place == rater or look.unique(place) or look.depends_on(place, rater):
        return False
    codes, places = look[place].codes, len(look[place].values)
    often = _values_of_each(look, rater, codes)
    highest = np.zeros(places, dtype=np.int64)
    np.maximum.at(highest, codes, numbers)
    one_panel = not names.mentions(place, names.STUDIES) and bool((often == often[0]).all())
    return places > 1 and not one_panel and bool(2 * (highest <= _GAPS * often).sum() > places)


def _about_people(look: Look, rater: str, spec: DataSpec) -> list[str]:
    """Return columns with demographic names that neither the rater nor the item determines."""
    return [
        name
        for name in look.columns
        if names.mentions(name, names.DEMOGRAPHIC)
        and name not in (rater, spec.item, *spec.labels)
        and len(look[name].values) > 1
        and not look.depends_on(name, rater)
        and not look.depends_on(name, str(spec.item))
    ]


def _values_of_each(look: Look, name: str, keys: Codes) -> Codes:
    """Count the distinct values of each key without empty cells, shape (keys,)."""
    width = len(look[name].values)
    filled = ~look[name].among([""])
    pairs = np.unique(keys[filled].astype(np.int64) * width + look[name].codes[filled])
    counts: Codes = np.bincount(pairs // width, minlength=int(keys.max()) + 1)
    return counts
