"""Rows that may not be meant to count: they count, and how to leave them out is said."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grasp_core.data_spec import DataSpec
from grasp_core.io.guess.look import Look
from grasp_core.io.guess.reasons import Reason
from grasp_core.io.guess.rows.flags import beside, maybe_withdrawn, occurrences, of_items, one_of, yes_of_two
from grasp_core.io.table import names
from grasp_core.io.table.table import Table
from grasp_core.wording import agree, listed, number, quoted

_MOST_KINDS = 10
_NO_PERSONS = names.MODELS | names.MADE
_NONE = frozenset({"na", "n/a", "not applicable", "none", "skip", "skipped", "no answer"})
_MODEL = re.compile(
    r"(?<![^\W_])((chat)?gpt|llm(?!\d+[a-z])|deepseek|qwen|mixtral|((claude|llama|gemini|mistral|gemma|grok)[\W_]?\d))",
    re.I,
)
"""What models are called, and people are not."""


def in_doubt(look: Look, spec: DataSpec) -> Iterator[Reason]:
    """What may say of a long file's rows that they do not count; the columns are the candidates."""
    table = look.whole
    if spec.layout != "long" or not {spec.item, spec.rater} <= set(table.columns):
        return
    told = {name for name, _ in spec.filters.drop}
    for name, text in maybe_withdrawn(look, spec):
        yield _counts(table, name, text, "such answers may not have been accepted")
    for name in beside(table, spec):
        texts = [text for text in table.distinct(name) if text.strip()]
        ticked = len(texts) == 1 and occurrences(table, name, texts[0]) < len(table)
        if name not in told and ticked and texts[0].strip().casefold() in _NONE:
            yield _counts(table, name, texts[0], "such answers may mean that there is none")
        elif name not in told and one_of(names.words(name), names.TRIALS):
            for text in yes_of_two(table, name):
                yield _counts(table, name, text, "such rows may be tests")
        elif name not in told:
            for text in _no_persons(look, name, spec):
                yield _counts(table, name, text, "such labels may be a model's, or made of others'")
    yield from _models(table, str(spec.rater))


def _counts(table: Table, name: str, text: str, may: str) -> Reason:
    rows = number(occurrences(table, name, text), "row")
    why = (
        f"{quoted(name)} = {quoted(text)} in {rows} of {len(table):,}: {may}; they count, unless left out on "
        f"Data, under Leave out, or by --drop {name}={text}"
    )
    return Reason("filters", why, "unsure", (name,))


def _no_persons(look: Look, name: str, spec: DataSpec) -> list[str]:
    """What a column that says who gave each label, as ``annotator_type``, calls models and the like."""
    *of, kind = names.words(name) or ("",)
    if kind not in names.KINDS or not (names.RATER | names.LABEL).intersection(map(names.singular, of)):
        return []
    texts = [text for text in look.whole.distinct(name) if text.strip()]
    found = [text for text in texts if not _NO_PERSONS.isdisjoint(names.words(text))]
    able = 0 < len(found) < len(texts) <= _MOST_KINDS
    return found if able and not of_items(look, name, str(spec.item)) else []


def _models(table: Table, rater: str) -> Iterator[Reason]:
    """That some of the raters are called like models, and the others are not."""
    ids = table.distinct(rater)
    found = [text for text in ids if _MODEL.search(text)]
    if not found or 2 * len(found) > len(ids):
        return
    why = (
        f"{listed(found, 3)} {agree(len(found), 'is', 'are')} called like "
        f"{agree(len(found), 'a model', 'models')}, not like the other raters; "
        f"{agree(len(found), 'it counts', 'they count')}, unless left out on Data, under Leave out, or by "
        f"--exclude-rater {found[0]}"
    )
    yield Reason("filters", why, "unsure")
