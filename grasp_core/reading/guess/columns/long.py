"""Guess the columns of a file with a row per annotation."""

from __future__ import annotations

from collections.abc import Collection

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.wording import quoted
from grasp_core.reading.guess.advice import Reason
from grasp_core.reading.guess.columns._pair import guess_ids
from grasp_core.reading.guess.columns.labels import guess_label
from grasp_core.reading.guess.look import TEXT_LENGTH, Look
from grasp_core.reading.table import names


def guess_long(look: Look) -> tuple[DataSpec, list[Reason]]:
    """A guess for a file with a row per annotation, and why."""
    item, rater, found = guess_ids(look)
    look = look.with_joined(item)
    sure = all(reason.confidence == "sure" for reason in found)
    why = "the file has a row per annotation: items and raters recur from row to row"
    reasons = [Reason("layout", why, "sure" if sure or look.named.long else "likely"), *found]
    some = look.of_some(item)
    label = look.named.label
    if label is None:
        label, reason = guess_label(some, item, rater)
        reasons.append(reason)
    text, texts = _text(some, item, {item, rater, label})
    return DataSpec(item=item, rater=rater, label=label, text=text), [*reasons, *texts]


def _text(look: Look, item: str, taken: Collection[str]) -> tuple[str | None, list[Reason]]:
    """The column of the items' texts: long, and decided by the item."""
    able = [name for name in look.columns if name not in taken and look.length(name) > TEXT_LENGTH]
    texts = [name for name in able if look.depends_on(name, item)]
    if not texts:
        return None, []
    best = max(texts, key=lambda name: (names.mentions(name, names.TEXT), look.length(name)))
    return best, [Reason("text", f"{quoted(best)}: long texts, one per item")]
