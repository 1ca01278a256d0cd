"""The sections of docs/validity.md: each a heading, what was done, and a table of what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from benchmarks.study import clean, situations
from benchmarks.study.cells import Cell
from benchmarks.study.measure import TESTS, Measured
from benchmarks.study.peers import OF_APUNIM
from benchmarks.study.rates import (
    CLEAR,
    COVERAGE,
    SIZE,
    Rate,
    called,
    clear,
    dsi_called,
    false_discoveries,
    held,
    peer_called,
    peer_held,
    warned,
)
from benchmarks.study.tables import NOTHING, names, of_tests, table, told
from grasp_core.statistics.items import ENOUGH_PAIRS

Found = Callable[[Cell], Measured]
"""What was measured of a cell."""
_INSIDE = ("in",)


def in_short(found: Found) -> str:
    """How many of all rates lie where they should."""
    sizes = _asked(
        called(found(cell), test, group)
        for cell in clean.NOTHING
        for group in found(cell).groups
        for test in TESTS
        if group != ("others",)
    )
    ends = _asked(held(found(one.cell), test, _INSIDE) for one in clean.PLANTED for test in TESTS)
    mended = _asked(
        called(found(one.cell), test, _INSIDE)
        for one in situations.SITUATIONS
        for test in TESTS
        if one.remedy
    )
    return f"""\
## In short

- Where nothing is planted, {_of(sizes, SIZE)} rates of false calls lie outside .03 to .06 by more than
  two Monte Carlo errors, {_beyond(sizes, SIZE)} of them above; the highest is
  {told(max(sizes, key=_share), SIZE)}.
- In [situations](#where-raters-are-not-exchangeable) in which raters are not exchangeable tests call up to
  nearly every data set. With their remedies {_of(mended, SIZE)} rates lie outside, {_beyond(mended, SIZE)} of
  them above; the highest is {told(max(mended, key=_share), SIZE)}.
- Of intervals of planted groups {_of(ends, COVERAGE)} shares that hold lie outside .92 to .99,
  {_beyond(ends, COVERAGE)} of them above, where intervals are wider than they need be; the lowest is
  {told(min(ends, key=_share), COVERAGE)}.
- Which difference which test finds: see [A difference planted](#a-difference-planted).
"""


def _asked(rates: Iterable[Rate]) -> list[Rate]:
    return [rate for rate in rates if rate.n]


def _of(rates: Sequence[Rate], bounds: tuple[float, float]) -> str:
    return f"{sum(rate.outside(bounds) for rate in rates)} of {len(rates)}"


def _beyond(rates: Sequence[Rate], bounds: tuple[float, float]) -> int:
    """How many of those outside lie above."""
    return sum(rate.outside(bounds) and rate.share > bounds[1] for rate in rates)


def _share(rate: Rate) -> float:
    return rate.share


def nothing(found: Found) -> str:
    """Size of every test where nothing is planted."""
    rows = []
    for cell in clean.NOTHING:
        measured = found(cell)
        for group in measured.groups:
            if group != ("others",):
                rate = partial(called, measured, group=group)
                rows.append([cell.name, str(int(group[0])), *of_tests(rate, SIZE)])
    of_dsi = [[cell.name, told(dsi_called(found(cell), 0), SIZE)] for cell in clean.NOTHING]
    return f"""\
## Nothing planted

Groups of 2 to 50 raters who answer as everybody else, beside {clean.OTHERS} more. Crossed: all of
{clean.CROSSED.items} items by all; sparse: {clean.SPARSE.items} items by {clean.SPARSE.each} raters each.
Share of data sets with p < .05, of one group and one test; it should lie between .03 and .06, and is
**bold** where it lies outside by more than two Monte Carlo errors.

![Rates of false calls by test](validity-size.svg)

{table("nothing", ["data", "raters"], names(), rows)}

The DSI's test, over all groups of the axis at once:

{table("dsi", ["data"], ["DSI"], of_dsi)}
"""


def planted(found: Found) -> str:
    """Power of every test, by effect, layout and size of the group."""
    rows = []
    for one in clean.PLANTED:
        measured = found(one.cell)
        rate = partial(called, measured, group=_INSIDE)
        rows.append([one.effect.name, one.layout.name, str(one.size), *of_tests(rate)])
    return f"""\
## A difference planted

A group of so many of {clean.RATERS} raters differs in one way. Share of data sets with p < .05.

![Power against the size of the group](validity-power.svg)

{table("planted", ["planted", "data", "raters"], names(), rows)}
"""


def discoveries(found: Found) -> str:
    """False discoveries among what is marked after correction."""
    rows = []
    for cell in clean.NOTHING:
        rows.append([f"nothing; {cell.name}", *_discoveries(found(cell), cell)])
    for one in clean.PLANTED:
        if one.size == clean.USUAL_SIZE:
            rows.append([f"{one.effect.name}; {one.layout.name}", *_discoveries(found(one.cell), one.cell)])
    return f"""\
## False discoveries

Among the groups marked after Benjamini and Hochberg's correction, the mean share of those without a
difference: where nothing is planted, all six groups of the axis; where {clean.USUAL_SIZE} of {clean.RATERS}
raters differ, the three of a second axis that has nothing to do with anything. It should be at most .05.

{table("discoveries", ["data"], names(), rows)}
"""


def _discoveries(measured: Measured, cell: Cell) -> list[str]:
    return of_tests(lambda test: false_discoveries(measured, cell, test), (0, 0.05))


def verdicts(found: Found) -> str:
    """How often anything is clear where nothing is planted, and what is planted elsewhere."""
    nothing = [[cell.name, told(clear(found(cell)), CLEAR)] for cell in clean.NOTHING]
    planted = []
    for one in clean.PLANTED:
        measured = found(one.cell)
        other = {group for group in measured.groups if group not in one.cell.differs}
        rates = told(clear(measured, {_INSIDE})), told(clear(measured, other))
        planted.append([one.effect.name, one.layout.name, str(one.size), *rates])
    situation = [
        [one.name, one.remedy or "none", told(clear(found(one.cell)), CLEAR)] for one in situations.SITUATIONS
    ]
    return f"""\
## Verdicts

By [all tests of a group together](methods.md#the-verdict), corrected over all groups of the run: share of
data sets in which any group has q < .05. Where nothing is planted it should be at most .06, and is **bold**
where it lies above by more than two Monte Carlo errors. The program calls nothing clear with as few
permutations as are drawn here, with which p is coarse and verdicts a little rarer than with 10,000.

{table("verdict", ["data"], ["any clear"], nothing)}

Where a group differs: how often it is found, and any group of the second axis, which has nothing to do with
anything.

{table("verdict planted", ["planted", "data", "raters"], ["found", "second axis"], planted)}

Where raters are not exchangeable; {NOTHING} where the program says that it cannot tell:

{table("verdict situation", ["situation", "remedy"], ["any clear"], situation)}
"""


def intervals(found: Found) -> str:
    """Coverage of intervals."""
    rows = []
    for cell in clean.NOTHING:
        measured = found(cell)
        for group in measured.groups:
            if group[0].isdigit() and int(group[0]) >= min(clean.PLANTED_SIZES):
                row = of_tests(partial(held, measured, group=group), COVERAGE)
                rows.append([f"nothing; {cell.name}", str(int(group[0])), *row])
    for one in clean.PLANTED:
        row = of_tests(partial(held, found(one.cell), group=_INSIDE), COVERAGE)
        rows.append([f"{one.effect.name}; {one.layout.name}", str(one.size), *row])
    return f"""\
## Intervals

Share of 95 % intervals, for other raters and other items, that hold the mean over all data sets; of label
use that of the first label. It should lie between .92 and .99, and is **bold** where it lies outside by
more than two Monte Carlo errors. The distance of 5 raters in sparse data is of one form in some data sets and
of the other in the rest, since about {ENOUGH_PAIRS} items have pairs of both sides: their common mean is
what neither estimates.

{table("interval", ["data", "raters"], names(), rows)}
"""


def not_exchangeable(found: Found) -> str:
    """Situations in which shuffling does not hold, as they are and with their remedy."""
    rows = []
    for one in situations.SITUATIONS:
        measured = found(one.cell)
        rate = of_tests(partial(called, measured, group=_INSIDE), SIZE)
        rows.append([one.name, one.remedy or "none", told(warned(measured)), *rate])
    return f"""\
## Where raters are not exchangeable

Nothing is planted in the group that is tested, but its raters are not like the others in what they were
given, with whom they work, or what else they are. Share of data sets with p < .05; {NOTHING} where the
program shows no p, because the data forbid it. *Warned*: in which share a run says that groups were given
other items or more of them; clickers and associated axes have warnings and checks of their own, and a
column that looks like teams is named. Where groups have pools of their own, nothing that the program asks
can be shuffled within: it marks only distance and label use, and tests label use by leaving raters out.
What mends the rest is to have all groups rate the same items, or to mark in a column which labels
stay, {situations.OF_EITHER} of each rater from either pool drawn at random, and to leave out the others
(`--drop`).

{table("situation", ["situation", "remedy"], ["warned", *names()], rows)}
"""


def beside(found: Found) -> str:
    """Other tests on the same data."""
    calls, ends = [], []
    for what, cell, group in _of_peers():
        measured = found(cell)
        ours = [told(called(measured, test, group)) for test in ("label_use", "distance", "gai")]
        theirs = told(peer_called(measured, "chi-square", group))
        calls.append([what, str(int(measured.n)), *ours, theirs])
        ends.append([what, told(held(measured, "irr", group)), told(peer_held(measured, group))])
    return f"""\
## Beside other tests

The same data, a group of {clean.USUAL_SIZE} raters. *Chi-square* is Pearson's test of group by label, which
takes all annotations for independent. Share of data sets with
p < .05; where nothing is planted it should be .05.

{table("beside", ["data"], ["data sets", "label use", "distance", "GAI", "chi-square"], calls)}

{_of_apunim(found)}

Share of 95 % intervals of IRR that hold, beside those of Hayes and Krippendorff (2007), which draw anew
from the pairs of labels that were observed:

{table("coincidences", ["data"], ["GRASP", "coincidences"], ends)}
"""


def _of_apunim(found: Found) -> str:
    """The same of apunim, where it could be measured."""
    rows = []
    for what, cell, group in _of_peers():
        measured = found(cell)
        if "apunim" in measured.peers:
            rate = peer_called(measured, "apunim", group)
            ours = [told(called(measured, test, group)) for test in ("distance", "gai")]
            rows.append([what, str(rate.n), told(rate), *ours])
    if not rows:
        return (
            "*apunim*, which asks which groups explain why items are disputed, was not there to be measured: "
            "it\ntakes `pip install apunim`, or statsmodels and its source beside this repository."
        )
    return f"""\
*apunim* (Tsirmpas, Androutsopoulos and Pavlopoulos) asks which groups explain why items are disputed, and
shuffles labels within items, which takes a rater's labels for independent. It is asked of the first
data sets alone, at most {OF_APUNIM}, and has a p in so many; this is the share with p < .05 before any
correction, with distance and GAI as above:

{table("apunim", ["data"], ["data sets", "apunim", "distance", "GAI"], rows)}"""


def _of_peers() -> list[tuple[str, Cell, tuple[str, ...]]]:
    without = [(f"nothing; {cell.name}", cell, (f"{clean.USUAL_SIZE}",)) for cell in clean.NOTHING]
    with_effect = [(one.name, one.cell, _INSIDE) for one in clean.PLANTED]
    return [one for one in (*without, *with_effect) if one[1].of_peers]


ALL: tuple[Callable[[Found], str], ...] = (
    in_short,
    nothing,
    planted,
    discoveries,
    verdicts,
    intervals,
    not_exchangeable,
    beside,
)
"""All sections, in their order."""
