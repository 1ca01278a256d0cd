"""docs/validity.md and its pictures, from the measurements."""

from __future__ import annotations

import csv
import platform
import textwrap
from pathlib import Path

from benchmarks.study import clean, plots, sections, situations
from benchmarks.study.measure import TESTS
from benchmarks.study.rates import called
from benchmarks.study.sections import Found
from benchmarks.study.tables import cells, names
from grasp_core import __version__

_WIDTH = 130
_SHOWN = ("label_use", "distance", "gai", "xrr")


def write(folder: Path, found: Found, sets: int) -> None:
    """Write the document, its pictures and the file of all rates to a folder."""
    text = "\n".join([_head(sets), *(section(found) for section in sections.ALL), _AGAIN])
    (folder / "validity.md").write_text(_wrapped(text), encoding="utf-8")
    with (folder / "validity.csv").open("w", encoding="utf-8", newline="") as file:
        every = csv.writer(file, lineterminator="\n")
        every.writerow(["rate of", "data", "raters", *names()])
        every.writerows(cells("false calls", sections.sizes_of_tests(found)))
        every.writerows(cells("intervals that hold", sections.intervals_of_tests(found)))
    (folder / "validity-size.svg").write_text(plots.size(_sizes(found)) + "\n", encoding="utf-8")
    (folder / "validity-power.svg").write_text(plots.power(_powers(found), _shown()) + "\n", encoding="utf-8")


def _wrapped(text: str) -> str:
    """Wrap paragraphs as in the other documents; headings, tables, lists and pictures stay."""
    blocks = text.split("\n\n")
    return "\n\n".join(
        block if block.lstrip()[:1] in ("#", "|", "-", "!", "") else _filled(block) for block in blocks
    )


def _filled(block: str) -> str:
    end = "\n" if block.endswith("\n") else ""
    return textwrap.fill(block, _WIDTH, break_long_words=False, break_on_hyphens=False) + end


def _head(sets: int) -> str:
    weights = (clean.NOTHING_WEIGHT, clean.PLANTED_WEIGHT, situations.WEIGHT)
    nothing, planted, situation = (f"{round(sets * weight):,}" for weight in weights)
    error = (0.05 * 0.95 / (sets * clean.NOTHING_WEIGHT)) ** 0.5
    return f"""\
# Validity

How often each test finds a difference that does not exist, how often it finds one that does, and how often
intervals are right, simulated with the program itself (version {__version__}, Python
{platform.python_version()}, 499 permutations per data set, seeds 0 upwards). Skill and leaning of raters and
label shares of items are drawn anew for each data set. [`make study`](#again) writes this page. Each line
summarises {nothing} data sets where nothing is planted (Monte Carlo standard error of a rate near .05:
{error:.3f}), {planted} where a difference is planted, and {situation} in the other situations.
"""


_AGAIN = """\
## Again

`make study` measures everything anew, keeps measurements in `.study`, continues there if interrupted, and
writes this page; `make study STUDY=quick` takes few data sets. The code is in `benchmarks/study/`.
"""


def _shown() -> list[str]:
    return [names()[TESTS.index(test)] for test in _SHOWN]


def _sizes(found: Found) -> list[dict[str, object]]:
    return [
        {"test": name, "rate": called(found(cell), test, group).share}
        for test, name in zip(TESTS, names(), strict=True)
        for cell in clean.NOTHING
        for group in found(cell).groups
        if group != ("others",) and called(found(cell), test, group).n
    ]


def _powers(found: Found) -> list[dict[str, object]]:
    return [
        {
            "effect": one.effect.name,
            "raters": one.size,
            "test": name,
            "power": called(found(one.cell), test, ("in",)).share,
        }
        for one in clean.PLANTED
        if one.layout is clean.CROSSED
        for test, name in zip(_SHOWN, _shown(), strict=True)
    ]
