"""A table's columns as guessing sees them; doubts about ids that restart, marked spans, melted tables."""

from __future__ import annotations

import re
import shlex
import string
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from grasp_core.model.annotations import Codes, is_number
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.text import agree, listed, number, quoted
from grasp_core.reading.guess.advice import Named, Reason
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import Column
from grasp_core.reading.table.parsed import PLUS, parts_of, with_joined
from grasp_core.reading.table.table import Table

MAX_ROWS, _MAX_CELLS = 100_000, 2_000_000
"""Largest numbers of rows and cells that guessing examines; of larger files it takes some of the rows."""
MOST_QUESTIONS = 30  # largest number of values in a column that names questions
MOST_SHARED = 0.5
"""Largest number of distinct words among labels, as a share of the rows; more are free answers."""
_APART = 0.9  # distinct pairs of values, as a share of the rows, above which two columns identify the rows
_MAX_LENGTHS = 1_000
TEXT_LENGTH, _TEXT_VALUES = 25, 20
"""Mean length and number of values above which a column contains texts that somebody wrote."""
_TIME = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}([ T].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}([ ,].*)?|\d{1,3}:\d{2}(:\d{2})?([.,]\d+)?"
    r"|\w{3} \w{3} \d{1,2} \d{2}:\d{2}:\d{2} .*|P(\d+D)?T(?=\d)(\d+H)?(\d+M)?(\d+([.,]\d+)?S)?"
)
_NEUTRAL = re.compile(r"column \d+")
_LINK = re.compile(r"(https?|ftp)://\S+|www\.\S+|(\d{1,3}\.){3}\d{1,3}|data:\S+")

_FILE = re.compile(
    r".*\.(png|jpe?g|gif|bmp|tiff?|webp|svg|dcm|nii|wav|mp3|flac|ogg|mp4|avi|mov|webm|txt|pdf)", re.I
)

Kind = Literal["empty", "time", "link", "numbers", "text", "words"]


class Look:
    """A table's columns, each encoded at its first use."""

    def __init__(self, table: Table, named: Named | None = None) -> None:
        self.whole = table
        self.named = Named() if named is None else named
        self.table = table.thinned(_most_rows(table))
        self.columns = table.columns
        self.n = len(self.table)
        self._encoded: dict[str, Column] = {}
        self._kinds: dict[str, Kind] = {}
        self._pairs: dict[frozenset[str], int] = {}
        self._of_some: dict[str, Look] = {}
        self._holds_files: dict[str, bool] = {}

    def __getitem__(self, name: str) -> Column:
        if name not in self._encoded:
            self._encoded[name] = self.table.column(name)
        return self._encoded[name]

    def of_some(self, name: str) -> Look:
        """Return this look, or for a large table a look at all rows of some values of `name`."""
        if self.table is self.whole:
            return self
        if name not in self._of_some:
            codes = self._whole_codes(name).to_numpy()
            step = -(-len(self.whole) // _most_rows(self.whole))
            rows = np.flatnonzero(codes % step == 0)[:MAX_ROWS]
            self._of_some[name] = Look(self.whole.kept(rows), self.named)
        return self._of_some[name]

    def with_joined(self, name: str) -> Look:
        """Return the look with the joined column if `name` stands for several columns."""
        table = with_joined(self.whole, (name,))
        return self if table is self.whole else Look(table, self.named)

    def texts(self, name: str) -> set[str]:
        """Distinct texts that are not empty."""
        return set(self[name].values) - {""}

    def identify_rows(self, first: str, second: str) -> bool:
        """Return whether nearly each row has its own pair of values in the two columns."""
        return self.pairs(first, second) > _APART * self.n

    def pairs(self, first: str, second: str) -> int:
        """Count the distinct pairs of values."""
        both = frozenset((first, second))
        if both not in self._pairs:
            width = len(self[second].values)
            codes = self[first].codes.astype(np.int64) * width + self[second].codes
            self._pairs[both] = int(np.unique(codes).size)
        return self._pairs[both]

    def depends_on(self, name: str, key: str) -> bool:
        """Return whether `key` determines `name`: one value of `name` for each value of `key`."""
        return self.pairs(name, key) == len(self[key].values)

    def alike(self, one: str, other: str) -> bool:
        """Return whether two columns match one to one, but for a few cells."""
        most = max(len(self[one].values), len(self[other].values))
        least = min(len(self[one].values), len(self[other].values))
        return self.pairs(one, other) <= 1.02 * most and least >= 0.95 * most

    def free_text(self, name: str) -> bool:
        """Return whether the values are texts, hardly any of them twice."""
        return self.kind(name) == "text" and len(self.texts(name)) > MOST_SHARED * self.n

    def length(self, name: str) -> float:
        """Mean length of the first distinct texts."""
        some = self[name].values[:_MAX_LENGTHS]
        return sum(map(len, some)) / max(len(some), 1)

    def unique(self, name: str) -> bool:
        """Return whether no value occurs twice."""
        if len(self[name].values) < self.n:
            return False
        return self.table is self.whole or pc.count_distinct(self._whole_codes(name)).as_py() == len(
            self.whole
        )

    def _whole_codes(self, name: str) -> pa.Array:
        """Return the codes of all rows without reading their texts."""
        column = self.whole.data.column(name).combine_chunks()
        return (column if pa.types.is_dictionary(column.type) else column.dictionary_encode()).indices

    def empty(self, name: str) -> float:
        """Share of cells without a text."""
        return float(self[name].among([""]).mean()) if self.n else 1.0

    def kind(self, name: str) -> Kind:
        """The kind of the column's values."""
        if name not in self._kinds:
            self._kinds[name] = self._kind(name)
        return self._kinds[name]

    def _kind(self, name: str) -> Kind:
        some = [text.strip() for text in self[name].values[:_MAX_LENGTHS] if text.strip()]
        if not some:
            return "empty"
        if sum(map(is_number, some)) >= 0.9 * len(some):
            return "numbers"
        for kind, pattern in (("time", _TIME), ("link", _LINK)):
            if sum(pattern.fullmatch(text) is not None for text in some) >= 0.9 * len(some):
                return "time" if kind == "time" else "link"
        spaced = sum(" " in text for text in some) >= 0.5 * len(some)
        wordy = sum(map(len, some)) > TEXT_LENGTH * len(some) and spaced
        return "text" if len(some) > _TEXT_VALUES and wordy else "words"

    def numbered(self, name: str, key: str) -> bool:
        """Return whether the column counts 1, 2, 3... within values of `key`, which vary in frequency."""
        numbers = self.integers(name)
        if numbers is None:
            return False
        codes = self[key].codes
        width = len(self[key].values)
        often = np.bincount(codes, minlength=width)
        low = np.full(width, np.iinfo(np.int64).max)
        high = np.full(width, np.iinfo(np.int64).min)
        np.minimum.at(low, codes, numbers)
        np.maximum.at(high, codes, numbers)
        whole = self.pairs(name, key) == self.n
        return bool(whole and (low <= 1).all() and (high - low + 1 == often).all() and np.ptp(often) > 0)

    def alternates(self, name: str, item: str, rater: str) -> bool:
        """Return whether each rater saw one version of each item, and all versions equally often."""
        width = len(self[name].values)
        once = self.pairs(item, rater) >= _MIN_DISTINCT_PAIRS * self.n
        if not (once and 1 < width <= _MOST_PLACES) or self.empty(name):
            return False
        often = [
            np.bincount(self[key].codes.astype(np.int64) * width + self[name].codes, minlength=width)
            for key in (item, rater)
        ]
        of_items, of_raters = (np.pad(one, (0, -one.size % width)).reshape(-1, width) for one in often)
        return bool(of_items.min() > 1 and of_raters.min() > 1 and not np.ptp(of_raters, axis=1).any())

    def decimals(self, name: str) -> bool:
        """Return whether the values are numbers, and some of them not whole."""
        whole = (text.strip().removesuffix(".0").lstrip("-").isdigit() for text in self.texts(name))
        return self.kind(name) == "numbers" and not all(whole)

    def integers(self, name: str, *, named: bool = False) -> Codes | None:
        """Return each cell's whole number, (n,), if `named` behind a prefix, as in ``Ann1``; else None."""
        values = self[name].values
        if named and values:
            stem, *others = {text.rstrip(string.digits) for text in values}
            values = values if others else tuple(text.removeprefix(stem) for text in values)
        if not all(text.isascii() and text.isdigit() and len(text) < 7 for text in values):
            return None
        return np.array([int(text) for text in values], dtype=np.int64)[self[name].codes]

    @cached_property
    def distinct_rows(self) -> int:
        """Number of distinct rows; some tools write each answer twice."""
        return len(pd.DataFrame({name: self[name].codes for name in self.columns}).drop_duplicates())

    @cached_property
    def scales(self) -> set[str]:
        """Columns with the same few values as at least two others, as answers to several questions have."""
        few = [name for name in self.columns if len(self[name].values) <= MOST_QUESTIONS + 1]
        able = {name: frozenset(self.texts(name)) for name in few}
        alike = Counter(able.values())
        return {name for name, texts in able.items() if alike[texts] > 2 and 1 < len(texts) <= MOST_QUESTIONS}

    @cached_property
    def ids(self) -> tuple[str | None, str | None]:
        """Item and rater columns as the user named them, or else by their names; None if there is none."""
        found = self._like(names.ITEM), self._like(names.RATER)
        item, rater = (name if name in self.columns else None for name in (self.named.item, self.named.rater))
        return (
            item or (found[0] if found[0] != rater else None),
            rater or (found[1] if found[1] != item else None),
        )

    def id_score(self, name: str, kinds: frozenset[str]) -> int:
        """Return the name's score, but 0 for raters if a `subject` is a topic, as of a school or a mail."""
        score = names.id_score(name, kinds)
        return 0 if score and kinds is names.RATER and self._is_topic(name) else score

    def holds_files(self, name: str) -> bool:
        """Return whether the values are file names, as of items, and the column's name agrees."""
        if name not in self._holds_files:
            some = [text.strip() for text in self[name].values[:_MAX_LENGTHS] if text.strip()]
            like = sum(_FILE.fullmatch(text) is not None for text in some)
            other = names.label_score(name) or names.mentions(name, names.SHOWN - names.PARTS)
            self._holds_files[name] = len(some) > 1 and like >= _MIN_DISTINCT_PAIRS * len(some) and not other
        return self._holds_files[name]

    def holds_lists(self, name: str) -> bool:
        """Return whether each value is a list."""
        texts = self.texts(name)
        return bool(texts) and all(text.startswith("[") and text.endswith("]") for text in texts)

    def holds_objects(self, name: str) -> bool:
        """Return whether each value is an object in JSON, such as all answers of one person, or several."""
        texts = self.texts(name)
        return bool(texts) and all(text.lstrip().startswith(("{", "[{")) for text in texts)

    def _is_topic(self, name: str) -> bool:
        if names.words(name)[-1:] not in (("subject",), ("subj",)):
            return False
        texts = self.texts(name)
        able = (text for text in texts if text.replace(" ", "").isalpha())
        worded = sum(len(text) >= _WORD + text.isupper() for text in able)
        return 2 * worded > len(texts)

    def _like(self, kinds: frozenset[str]) -> str | None:
        scores = {name: self.id_score(name, kinds) for name in self.columns}
        best = max(scores, key=lambda name: scores[name])
        return best if scores[best] else None


def neutral(name: str) -> bool:
    """Return whether a column had no name and got one when it was read."""
    return _NEUTRAL.fullmatch(name) is not None


def _most_rows(table: Table) -> int:
    return min(MAX_ROWS, _MAX_CELLS // max(len(table.columns), 1))


FREE = "free answers, hardly any of them twice"
OBJECTS = "objects in JSON, such as marked spans, or several answers that need a column each"
_WORD = 3
"""Fewest letters of a word, such as ``Bio``; capitals need one more, since initials have up to three."""
_MOST_SHOWN = 4
_LONGEST = 10_000_000  # limit for positions of characters in a text; larger numbers are times
_MIN_DISTINCT_PAIRS = 0.95
"""Share of rows with their own pair of item and rater; below it, rows are parts of an annotation."""
_MOST_PLACES = 50
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
        if some.pairs(spec.item, spec.rater) < _MIN_DISTINCT_PAIRS * some.n:
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
        if in_sets and 1 < values <= _MOST_PLACES:
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
        if place in taken or not 1 < values <= _MOST_PLACES or look.depends_on(place, rater):
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
    if crowd and look.pairs(item, rater) >= _MIN_DISTINCT_PAIRS * items * places:
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
