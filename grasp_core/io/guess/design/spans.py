"""Rows that mark spans: a rater has several for an item, and none of them is the rater's label of it."""

from __future__ import annotations

from collections.abc import Iterator

from grasp_core.data_spec import DataSpec
from grasp_core.io.guess.look import Look
from grasp_core.io.guess.named import Named
from grasp_core.io.guess.reasons import Reason
from grasp_core.io.table import names
from grasp_core.wording import quoted

_STARTS, _ENDS = frozenset({"start", "begin"}), frozenset({"end", "stop"})
_LONGEST = 10_000_000
"""Characters of a text; larger numbers are times."""
_TOLD_APART = 0.95
"""Share of rows that item and rater tell apart, below which rows are parts of what a rater said."""


def marked_spans(look: Look, spec: DataSpec, named: Named) -> Iterator[Reason]:
    """That a long file's labels are those of spans, unless their column is named."""
    if spec.layout != "long" or named.label is not None or spec.item is None or spec.rater is None:
        return
    starts, ends = (
        [name for name in look.columns if _place(look, name, kinds)] for kinds in (_STARTS, _ENDS)
    )
    found = next(((one, other) for one in starts for other in ends if _ordered(look, one, other)), None)
    if found is None:
        return
    some = look.of_some(spec.item)
    if some.pairs(spec.item, spec.rater) < _TOLD_APART * some.n:
        why = (
            f"no column looks like labels: {quoted(found[0])} and {quoted(found[1])} mark spans, several of "
            "one rater in one item, on which no agreement is computed"
        )
        yield Reason("label", why, "unsure")


def _place(look: Look, name: str, kinds: frozenset[str]) -> bool:
    """Whether a column holds whole numbers, and is named like an end of a span."""
    if kinds.isdisjoint(names.words(name)) or names.mentions(name, names.META - {"position"}):
        return False
    return all(text.isascii() and text.isdigit() and int(text) < _LONGEST for text in look.texts(name))


def _ordered(look: Look, start: str, end: str) -> bool:
    """Whether each row's end is not before its start."""
    pairs = zip(look[start].codes.tolist(), look[end].codes.tolist(), strict=True)
    texts = ((look[start].values[one], look[end].values[other]) for one, other in set(pairs))
    return all(int(one) <= int(other) for one, other in texts if one and other)
