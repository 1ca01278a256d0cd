"""The sections of docs/validity.md: each a heading, the method, and a table of results."""

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
from benchmarks.study.tables import NOTHING, SPAN, Row, names, of_tests, spans, table, told
from grasp_core.statistics.items import ENOUGH_PAIRS

Found = Callable[[Cell], Measured]
"""Function that returns a cell's measurements."""
_INSIDE = ("in",)
_TESTS_BESIDE = ("data sets", "label use", "distance", "GAI", "chi-square")


def in_short(found: Found) -> str:
    """Say how many of all rates are within their bounds."""
    sizes = _asked(rate for _, rates in sizes_of_tests(found) for rate in rates)
    ends = _asked(held(found(one.cell), test, _INSIDE) for one in clean.PLANTED for test in TESTS)
    mended = _asked(
        called(found(one.cell), test, _INSIDE)
        for one in situations.SITUATIONS
        for test in TESTS
        if one.remedy
    )
    return f"""\
## In short

- Nothing planted: {_of(sizes, SIZE)} rates of false calls lie outside .03 to .06 by more than two Monte
  Carlo errors, {_beyond(sizes, SIZE)} of them above; the highest is {told(max(sizes, key=_share), SIZE)}.
- [Raters not exchangeable](#where-raters-are-not-exchangeable): tests make a false call in up to nearly every
  data set. With the remedies {_of(mended, SIZE)} rates lie outside, {_beyond(mended, SIZE)} of them above;
  the highest is {told(max(mended, key=_share), SIZE)}.
- Intervals of planted groups: {_of(ends, COVERAGE)} shares of right intervals lie outside .92 to .99,
  {_beyond(ends, COVERAGE)} of them above (too wide); the lowest is {told(min(ends, key=_share), COVERAGE)}.
"""


def _asked(rates: Iterable[Rate]) -> list[Rate]:
    return [rate for rate in rates if rate.n]


def _of(rates: Sequence[Rate], bounds: tuple[float, float]) -> str:
    return f"{sum(rate.outside(bounds) for rate in rates)} of {len(rates)}"


def _beyond(rates: Sequence[Rate], bounds: tuple[float, float]) -> int:
    """Count the rates that are outside, above the bounds."""
    return sum(rate.outside(bounds) and rate.share > bounds[1] for rate in rates)


def _share(rate: Rate) -> float:
    return rate.share


def sizes_of_tests(found: Found) -> list[Row]:
    """Return how often each test calls each group if nothing is planted."""
    return [
        ((cell.name, str(int(group[0]))), [called(found(cell), test, group) for test in TESTS])
        for cell in clean.NOTHING
        for group in found(cell).groups
        if group != ("others",)
    ]


def nothing(found: Found) -> str:
    """Report the size of every test if nothing is planted."""
    of_axes = [
        [cell.name, told(dsi_called(found(cell), 0), SIZE), told(clear(found(cell)), CLEAR)]
        for cell in clean.NOTHING
    ]
    return f"""\
## Nothing planted

Groups of 2 to 50 raters, and {clean.OTHERS} more raters, do not differ. Crossed: all raters label
{clean.CROSSED.items} items; sparse: {clean.SPARSE.each} raters label each of {clean.SPARSE.items} items. The
rate of false calls is the share of data sets with p < .05, for one group and one test. It should lie between
.03 and .06, and is **bold** if it lies outside by more than two Monte Carlo errors.
[validity.csv](validity.csv) has the rate of each group.

![Rates of false calls by test](validity-size.svg)

{table("nothing", ["test"], SPAN, spans(sizes_of_tests(found), SIZE))}

For all groups of the axis at once: the rate of the DSI's test, and the share of data sets in which any group
is clear by [all tests together](methods.md#the-verdict), with q < .05 after correction over all groups of the
run. The latter should be at most .06. With the few permutations drawn here, clear verdicts are a little rarer
than with 10,000.

{table("dsi", ["data"], ["DSI", "any clear"], of_axes)}
"""


def planted(found: Found) -> str:
    """Report the power of every test, by effect, layout and size of the group."""
    rows = []
    for one in clean.PLANTED:
        measured = found(one.cell)
        rate = partial(called, measured, group=_INSIDE)
        other = {group for group in measured.groups if group not in one.cell.differs}
        clears = told(clear(measured, {_INSIDE})), told(clear(measured, other))
        rows.append([one.effect.name, one.layout.name, str(one.size), *of_tests(rate), *clears])
    return f"""\
## A difference planted

Of {clean.RATERS} raters a group, of the size under *raters*, differs in one way. Figures are shares of data
sets with p < .05; under *clear*, with a verdict of q < .05; under *second axis*, with any clear group of an
axis that is unrelated to the labels.

![Power against the size of the group](validity-power.svg)

{table("planted", ["planted", "data", "raters"], [*names(), "clear", "second axis"], rows)}
"""


def discoveries(found: Found) -> str:
    """Report false discoveries among the groups marked after correction."""
    rows = []
    for cell in clean.NOTHING:
        rows.append([f"nothing; {cell.name}", *_discoveries(found(cell), cell)])
    for one in clean.PLANTED:
        if one.size == clean.USUAL_SIZE:
            rows.append([f"{one.effect.name}; {one.layout.name}", *_discoveries(found(one.cell), one.cell)])
    return f"""\
## False discoveries

Mean share of groups without a difference among the groups marked after Benjamini and Hochberg's correction.
Groups without a difference are all six of the axis if nothing is planted, and the three of the second axis if
{clean.USUAL_SIZE} of {clean.RATERS} raters differ. The share should be at most .05.

{table("discoveries", ["data"], names(), rows)}
"""


def _discoveries(measured: Measured, cell: Cell) -> list[str]:
    return of_tests(lambda test: false_discoveries(measured, cell, test), (0, 0.05))


def intervals_of_tests(found: Found) -> list[Row]:
    """Return how often the interval of each test contains the truth, for each group."""
    rows = [
        ((f"nothing; {cell.name}", str(int(group[0]))), [held(found(cell), test, group) for test in TESTS])
        for cell in clean.NOTHING
        for group in found(cell).groups
        if group[0].isdigit() and int(group[0]) >= min(clean.PLANTED_SIZES)
    ]
    return rows + [
        (
            (f"{one.effect.name}; {one.layout.name}", str(one.size)),
            [held(found(one.cell), test, _INSIDE) for test in TESTS],
        )
        for one in clean.PLANTED
    ]


def intervals(found: Found) -> str:
    """Report the coverage of intervals."""
    return f"""\
## Intervals

An interval is right if it contains the mean of the value over all data sets (for label use, the value of the
first label). The share of right 95 % intervals, for other raters and other items, should lie between .92 and
.99, and is **bold** as above; [validity.csv](validity.csv) has the share of each group. With 5 raters in
sparse data about {ENOUGH_PAIRS} items have pairs on both sides. There the distance changes its form: it has
one form in some data sets and the other in the rest, and neither estimates their common mean.

{table("interval", ["test"], SPAN, spans(intervals_of_tests(found), COVERAGE))}
"""


def not_exchangeable(found: Found) -> str:
    """Report situations in which shuffling is not valid, as they are and with their remedy."""
    rows = []
    for one in situations.SITUATIONS:
        measured = found(one.cell)
        rate = of_tests(partial(called, measured, group=_INSIDE), SIZE)
        any_clear = told(clear(measured), CLEAR)
        rows.append([one.name, one.remedy or "none", told(warned(measured)), *rate, any_clear])
    return f"""\
## Where raters are not exchangeable

Nothing is planted in the tested group, but its raters differ in the items that they were given, in the people
they work with, or in other traits. Figures are shares of data sets with p < .05; {NOTHING} means that the
program shows no p because the data forbid it. *Warned* is the share of runs that warn of other or more items;
clickers, associated axes and columns that look like teams have warnings of their own. If groups were given
other items, or more of them, the program marks label use alone. The remedy is to have all groups rate the
same items, or to draw {situations.OF_EITHER} labels of each rater from each pool at random and leave out the
others (`--drop`).

{table("situation", ["situation", "remedy"], ["warned", *names(), "any clear"], rows)}
"""


def beside(found: Found) -> str:
    """Report other tests on the same data."""
    rows = []
    for what, cell, group in _of_peers():
        measured = found(cell)
        ours = [told(called(measured, test, group)) for test in ("label_use", "distance", "gai")]
        theirs = told(peer_called(measured, "chi-square", group))
        ends = told(held(measured, "irr", group)), told(peer_held(measured, group))
        rows.append([what, str(int(measured.n)), *ours, theirs, *ends])
    return f"""\
## Beside other tests

The same data, a group of {clean.USUAL_SIZE} raters: share of data sets with p < .05, which should be .05 if
nothing is planted. *Chi-square* is Pearson's test of group by label, which assumes that all annotations are
independent. The last two columns are shares of right 95 % intervals of IRR: ours, and *coincidences*, the
intervals of Hayes and Krippendorff (2007), which draw anew from the observed pairs of labels.

{table("beside", ["data"], [*_TESTS_BESIDE, "IRR's interval", "coincidences"], rows)}

{_of_apunim(found)}
"""


def _of_apunim(found: Found) -> str:
    """Report the same for apunim, if it could be measured."""
    rows = []
    for what, cell, group in _of_peers():
        measured = found(cell)
        if "apunim" in measured.peers:
            rate = peer_called(measured, "apunim", group)
            ours = [told(called(measured, test, group)) for test in ("distance", "gai")]
            rows.append([what, str(rate.n), told(rate), *ours])
    if not rows:
        return (
            "*apunim*, which tests which groups explain disputed items, was not installed for this page "
            "(`pip install apunim`,\nor statsmodels and its source beside this repository)."
        )
    return f"""\
*apunim* (Tsirmpas, Androutsopoulos and Pavlopoulos) tests which groups explain disputed items, and shuffles
labels within items, which assumes that a rater's labels are independent. Only the first data sets are tested
with it, at most {OF_APUNIM}; *data sets* are those where it has a p. The table has the share with p < .05
before any correction, with distance and GAI as above:

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
    intervals,
    not_exchangeable,
    beside,
)
"""All sections, in their order."""
