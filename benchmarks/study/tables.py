"""The study's tables, in Markdown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

from benchmarks.study.measure import TESTS
from benchmarks.study.rates import Rate

_SHORT = {
    "irr": "IRR",
    "xrr": "XRR",
    "negentropy": "negentropy",
    "cross_negentropy": "cross-negentropy",
    "plurality_size": "plurality size",
    "voting_agreement": "voting agreement",
    "gai": "GAI",
    "gap": "gap",
    "distance": "distance",
    "label_use": "label use",
    "verdict": "verdict",
}
NOTHING = "–"
SPAN = ("groups", "lowest", "median", "highest", "below", "above")
Row = tuple[tuple[str, str], list[Rate]]
"""Data and number of raters, with the rate of each test."""


def names() -> list[str]:
    """Return short names of all tests, in their order."""
    return [_SHORT[test] for test in TESTS]


def told(rate: Rate, bounds: tuple[float, float] | None = None) -> str:
    """Format a rate in two or three decimals; bold if it is outside the bounds by more than chance."""
    if not rate.n:
        return NOTHING
    text = f"{rate.share:.3f}" if bounds else f"{rate.share:.2f}"
    text = "1.00" if text.startswith("1") else text.removeprefix("0")
    return f"**{text}**" if bounds and rate.outside(bounds) else text


def table(of: str, first: Sequence[str], columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format columns of words, then columns of figures; each row has an anchor made of `of` and its words."""
    heads = [*first, *columns]
    rule = ["---"] * len(first) + ["---:"] * len(columns)
    anchored = [[f'<a id="{anchor(of, *row[: len(first)])}"></a>{row[0]}', *row[1:]] for row in rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (heads, rule, *anchored))


def anchor(*words: str) -> str:
    """Return the end of a link to a row of these words, such as "situation-batches-80-of-one-group-none"."""
    plain = unicodedata.normalize("NFKD", " ".join(words)).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def of_tests(rate: Callable[[str], Rate], bounds: tuple[float, float] | None = None) -> list[str]:
    """Return a row's figures: the rate of each test."""
    return [told(rate(test), bounds) for test in TESTS]


def spans(rows: Sequence[Row], bounds: tuple[float, float]) -> list[list[str]]:
    """Return for each test the lowest, lower median and highest rate, and how many are outside the bounds."""
    found = []
    for place, name in enumerate(names()):
        rates = sorted((rates[place] for _, rates in rows if rates[place].n), key=lambda rate: rate.share)
        if rates:
            told_ones = [told(rates[at], bounds) for at in (0, (len(rates) - 1) // 2, -1)]
            above = sum(rate.outside(bounds) and rate.share > bounds[1] for rate in rates)
            below = sum(rate.outside(bounds) for rate in rates) - above
            found.append([name, str(len(rates)), *told_ones, str(below), str(above)])
    return found


def cells(of: str, rows: Iterable[Row]) -> list[list[str]]:
    """Return rows for the file of every rate: kind of rate, data, raters, and each test's rate."""
    return [[of, *words, *(f"{rate.share:.3f}" if rate.n else "" for rate in rates)] for words, rates in rows]
