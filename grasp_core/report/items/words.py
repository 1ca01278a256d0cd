"""Names of what items carry, and how single items are shown."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from grasp_core.panels.items.result import ItemOutcome, Measure
from grasp_core.report.words.names import MINUS, one_line
from grasp_core.report.words.printable import printable, printable_name

MEASURES: Mapping[Measure, str] = MappingProxyType({"distance": "Distance", "label_use": "Label use"})
"""What items may carry, by the name that people read."""
EXPLANATIONS: Mapping[Measure, str] = MappingProxyType(
    {
        "distance": (
            "How much of the distance between the group and the others comes from the item: 0 where both "
            "sides differ no more than each differs within itself; large values are tested."
        ),
        "label_use": (
            "By how many percentage points the item raises how often the group gives a label, the one that "
            "lies furthest from chance; tested in either direction."
        ),
    }
)
TEXT_LIMIT = 300
"""Characters of an item's text that are shown."""
_LABELS = 4
"""Labels whose shares are shown of a side; the rest are added up."""


def cut_text(text: str) -> str:
    """An item's text on one line; what is longer than people read in a table ends in a mark."""
    start = text[: 4 * TEXT_LIMIT]
    shown = " ".join(printable(start).split())
    whole = len(shown) <= TEXT_LIMIT and len(start) == len(text)
    return shown if whole else f"{shown[:TEXT_LIMIT]}…"


def item_name(row: ItemOutcome) -> str:
    """An item's id on one line."""
    return one_line(printable_name(row.item))


def shares(counts: Mapping[str, int]) -> str:
    """A side's labels, such as ``“No” 78 %, “Yes” 22 % (9)``, most frequent first."""
    total = sum(counts.values())
    ranked = sorted(((n, label) for label, n in counts.items() if n), key=lambda pair: -pair[0])
    shown = [f"“{one_line(printable_name(label))}” {percent(n / total)}" for n, label in ranked[:_LABELS]]
    rest = sum(n for n, _ in ranked[_LABELS:])
    shown += [f"other labels {percent(rest / total)}"] if rest else []
    return f"{', '.join(shown)} ({total:,})"


def points(value: float, digits: int = 1) -> str:
    """A share in percentage points, with its sign."""
    text = f"{100 * value:+.{digits}f}"
    return text.removeprefix("+") if float(text) == 0 else text.replace("-", MINUS)


def percent(value: float) -> str:
    """A share in whole per cent, with a true minus sign."""
    return f"{round(100 * value):,} %".replace("-", MINUS)
