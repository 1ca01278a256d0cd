"""The questions that a guess which is unsure leads to."""

from __future__ import annotations

from collections.abc import Sequence

from grasp_core.io.guess.reasons import Reason
from grasp_core.io.table.joined import PLUS
from grasp_core.wording import listed, quoted

_NAMES = {
    "layout": "layout",
    "item": "item column",
    "rater": "rater column",
    "label": "label column",
    "items_id": "items file's column of item ids",
}
_MOST_ASKED = 12


def question(reason: Reason) -> str:
    """The question that an unsure reason asks, e.g. "the label column is not certain: 'a' or 'b'?"."""
    if not reason.candidates:
        return reason.sentence
    explained = reason.field == "layout" or len(reason.candidates) == 1 or PLUS in reason.candidates[0]
    why = f" ({reason.sentence})" if explained else ""
    return f"the {_NAMES[reason.field]} is not certain: {_either(reason.candidates)}?{why}"


def _either(candidates: Sequence[str]) -> str:
    """``'a', 'b' or 'c'``."""
    if len(candidates) > _MOST_ASKED:
        return listed(candidates, _MOST_ASKED)
    *others, last = candidates
    return f"{listed(others)} or {quoted(last)}" if others else quoted(last)
