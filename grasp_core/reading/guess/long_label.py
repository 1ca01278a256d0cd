"""The column of labels in a file with a row per annotation."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.text import agree, listed, number, quoted
from grasp_core.reading.dataset.checks import MAX_CATEGORIES
from grasp_core.reading.formats.shapes.rows import MAX_OPTIONS
from grasp_core.reading.guess.advice import Confidence, Reading, Reason
from grasp_core.reading.guess.doubts import FREE, OBJECTS
from grasp_core.reading.guess.look import MOST_SHARED, Look, neutral
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import PLUS, runs, stem

_OWN, _ROWS_OF_LABELS = 0.9, 4
"""Share of rows with distinct values within items or raters of so many rows, from which it is no label."""
_PREDICTED = [("prediction",), ("predictions",), ("predicted",), ("pred",)]
"""Last words in names of a model's labels; raters gave these only if no other column has labels."""
_FEW = 20
_CODES, _LEAST_CODES = 0.85, 7
"""Share and number of distinct answers above which answers are initials or codes."""
_ASKED = names.LABEL | names.ASKED | {"q", "question", "item"}  # beginnings of numbered names of questions
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
    ranks = {name: rank_of_label(name) for name in free}
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
    asked = (name for name in look.columns if name not in (item, rater) and rank_of_label(name) > 1)
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
    top = max(map(rank_of_label, able), default=0)
    best = _different(look, [name for name in able if rank_of_label(name) == top])
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


def rank_of_label(name: str) -> int:
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
        return values <= MAX_CATEGORIES or rank_of_label(name) >= 0
    return values <= MAX_CATEGORIES and (values <= 3 or values <= MOST_SHARED * look.n)


def _varies(look: Look, name: str, key: str) -> bool:
    """Return whether values differ within `key`, and recur there."""
    if look.depends_on(name, key) or look.numbered(name, key):
        return False
    often = look.n / len(look[key].values)
    if look.kind(name) == "numbers" and rank_of_label(name) >= 0:  # sliders seldom repeat
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
    """Return whether a column is a coarser form of another by its name, as ``rating_binary``."""
    own = names.words(name)
    others = (called[own[:width]] for width in range(1, len(own)) if own[:width] in called)
    return any(look.depends_on(name, other) and not look.depends_on(other, name) for other in others)


def _named_only(
    look: Look, able: Sequence[str], item: str, rater: str, taken: Collection[str]
) -> tuple[str, Reason]:
    """Return a column whose name says label, or a question, if no column varies within items and raters."""
    others = [name for name in look.columns if name not in taken]
    free = [name for name in able if not any(look.depends_on(name, key) for key in (item, rater))]
    named = [name for name in others if rank_of_label(name) > 1 and _may_label(look, name, least=1)]
    if len(named) == 1 and (len(look.texts(named[0])) == 1 or not look.depends_on(named[0], rater)):
        alike = ", though it does not vary within items" if look.depends_on(named[0], item) else ""
        return named[0], Reason("label", f"{quoted(named[0])}: its name says label{alike}", "likely")
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
        why = (
            why
            if any(rank_of_label(name) > 1 for name in aside)
            else f"no column is named like labels; {why}"
        )
        return aside[0], Reason("label", why, "unsure", tuple(aside))
    unfilled = [name for name in others if rank_of_label(name) > 1 and look.kind(name) == "empty"]
    if unfilled:  # such as a sheet to vote on
        why = f"no column looks like labels: {quoted(unfilled[0])} is empty in every row; fill it in"
    for what, holds in ((FREE, look.free_text), (OBJECTS, look.holds_objects)):
        found = [name for name in others if holds(name) and not look.depends_on(name, item)]
        if not named and found:
            shown = f"{listed(found, 3)} {agree(len(found), 'holds', 'hold')} {what}"
            why = f"no column looks like labels: {shown}"
    return best, Reason("label", why, "unsure", tuple(named or free))
