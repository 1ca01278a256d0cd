"""Charts of rows: each row has a name, a value along one axis, its interval, null values, and figures."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

import altair as alt

from grasp_core.model.groups import axis_label, group_labels
from grasp_core.model.outcome import Histogram, Outcome
from grasp_core.model.result import GroupResult, Result
from grasp_core.report.charts import theme as draw
from grasp_core.report.tables import ends
from grasp_core.report.words import names

PAGE = 40
"""Number of groups that a page shows at once."""
_FIGURES = 150, 205
"""Pixels that the figures take at the right end of a row's text, without and with p and q."""
_HEADING = 26
_TAIL = 0.005
"""Share of shuffled values that the shared axis may cut off at either end."""
_REACH = 5.0
"""The axis reaches at most this many typical row widths from its centre."""
MEMBERS = "members"
"""Field of a row's second value, which is drawn as a cross."""


@dataclass(frozen=True, slots=True)
class _Heights:
    """Pixels of a row: its height, the positions of text, mark and histogram base, the histogram's height."""

    row: int
    text: int
    mark: int
    base: int = 0
    peak: int = 0


_PLAIN, _WITH_HISTOGRAM = _Heights(36, 11, 26), _Heights(44, 8, 22, 42, 19)


@dataclass(frozen=True, slots=True)
class ChartRow:
    """A row: names, outcome and tooltip; `placed` is the outcome along the chart's axis, if another."""

    name: str
    outcome: Outcome
    behind: str = ""
    below: str = ""
    told: Mapping[str, Any] = field(default_factory=dict)
    write: Callable[[float | None], str] = names.format_value
    placed: Outcome | None = None

    @property
    def on_axis(self) -> Outcome:
        """The outcome along the chart's axis; a gap in place of GAI has no position on GAI's axis."""
        if self.placed is not None:
            return self.placed
        return Outcome(None) if isinstance(self.outcome, names.InPlaceOfGai) else self.outcome

    @property
    def interval(self) -> str:
        """The interval as text; empty if there is none."""
        return names.in_brackets(*ends(self.outcome), self.write)


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """The axis of all rows; `called`: names of tooltip fields, `nothing`: the value of no difference."""

    title: str
    called: Mapping[str, str]
    nothing: float | None = None
    domain: tuple[float, float] | None = None
    look: Mapping[str, Any] = field(default_factory=lambda: {"grid": True})


def in_words(rows: Iterable[ChartRow]) -> str:
    """Describe rows by values, intervals and marks, then name the rows without a value."""
    told, missing = [], []
    for row in rows:
        mark = row.outcome.significance
        if row.on_axis.value is None:
            missing.append(row.name)
        else:
            value = f"{row.name} {row.write(row.outcome.value)}{names.form(row.outcome)} {row.interval}"
            told.append(value.rstrip() + ("" if mark == "none" else f", {names.SIGNIFICANCE_NAMES[mark]}"))
    return "; ".join(told) + "." + (f" Not estimable: {'; '.join(missing)}." if missing else "")


def in_rows(
    result: Result | None,
    rows: Sequence[ChartRow],
    axis: ChartAxis,
    theme: draw.Theme,
    heading: alt.TitleParams | None,
    alt_text: str,
    only: slice = slice(None),
    *,
    histograms: bool = False,
) -> alt.LayerChart:
    """A chart of the rows in `only`, on the axis of all rows; without a result nothing is marked."""
    domain = axis.domain or shared_domain([row.on_axis for row in rows])
    if axis.domain is None and result is not None and result.provisional:
        domain = rounded_outwards(domain)
    heights = _WITH_HISTOGRAM if histograms else _PLAIN
    drawn, headings, nulls = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()
    top, below = 0, ""
    for row in rows[only]:
        if row.below != below:
            below = row.below
            headings.append({"text": below, "y": top + _HEADING - 9})
            top += _HEADING
        places = {"top": top, "text_y": top + heights.text, "mark_y": top + heights.mark}
        places |= {"base": top + heights.base, "bottom": top + heights.row}
        drawn.append(_figures(result, row, domain, tests=histograms) | places)
        null = row.on_axis.null
        if histograms and null is not None and any(null.counts):
            nulls.append(_outline(null, drawn[-1], heights.peak))
        top += heights.row
    tested = result is not None
    layers = _layers(drawn, headings, nulls if histograms else None, axis, domain, top, theme, tested=tested)
    return draw.finish(layers, theme, heading=heading, alt_text=alt_text, height=top)


def _figures(
    result: Result | None, row: ChartRow, domain: tuple[float, float], *, tests: bool
) -> dict[str, Any]:
    outcome, placed = row.outcome, row.on_axis
    (low, high), at, value = ends(placed), within(domain, placed.value), row.write(outcome.value)
    p, q = ("", "") if result is None else names.in_figure(outcome, result)
    waiting = result is not None and names.not_yet(outcome, result)
    if tests and outcome.value is not None:
        value = f"{value} {names.arrow(outcome)}".rstrip()
        tested = names.format_p(None) if outcome.p is None else f"p {p}, q {q}"
        beside = names.NOT_YET if waiting else tested
    else:
        beside = row.interval
    marks = f"{names.signs(outcome)}{names.MAY_CHANGE if names.may_change(outcome) else ''}"
    return {
        "group": row.name,
        "named": f"{row.name}{row.behind}{'' if at == placed.value else ', beyond the axis'}",
        "x": at,
        "low": within(domain, low),
        "high": within(domain, high),
        "chance": within(domain, placed.null_median),
        "value": f"{value}{names.form(outcome)}",
        "interval": row.interval or str(outcome.no_interval or ""),
        "median": names.format_value(outcome.null_median),
        "figures": " ".join(filter(None, (value, beside, marks))),
        "p": "" if outcome.p is None and not waiting else p,
        "q": "" if outcome.q is None else q,
        "significance": names.SIGNIFICANCE_NAMES[outcome.significance],
        "verdict": names.verdict(outcome),
        **row.told,
    }


def _outline(null: Histogram, row: Mapping[str, Any], peak: int) -> dict[str, Any]:
    """The outline of a histogram: each bin's lower edge, then the last one's upper edge."""
    width, scale = (null.high - null.low) / len(null.counts), peak / max(null.counts)
    return {
        "row": row["top"],
        "x": [float(f"{null.low + width * edge:.7g}") for edge in range(len(null.counts) + 1)],
        "top": [round(row["base"] - count * scale, 2) for count in (*null.counts, 0)],
        "base": row["base"],
        "significance": row["significance"],
    }


def _layers(
    drawn: list[dict[str, Any]],
    headings: list[dict[str, Any]],
    nulls: list[dict[str, Any]] | None,
    axis: ChartAxis,
    domain: tuple[float, float],
    height: int,
    theme: draw.Theme,
    *,
    tested: bool,
) -> list[alt.Chart]:
    """Lines between rows, null values, marks, texts, and areas that show tooltips."""
    colours, mark_y, text_y = draw.palette(theme), draw.down("mark_y"), draw.down("text_y")
    x, low, chance, members = (
        draw.measured(one, domain, axis.title, titleLimit=340, **axis.look)
        for one in ("x", "low", "chance", MEMBERS)
    )
    base = alt.Chart(alt.NamedData("rows")).encode(tooltip=draw.tooltip(**axis.called))
    at, room = axis.nothing, _FIGURES[nulls is not None]
    nothing = [] if at is None or not domain[0] <= at <= domain[1] else [{"x": at}]
    look: dict[str, Any] = {"shape": "cross", "angle": 45, "size": 45, "filled": True, "aria": False}
    own = draw.valid(base, MEMBERS).mark_point(color=colours.ink, opacity=0.75, **look)
    plain = colours.significance["corrected"]
    colour: Any = draw.colour(theme) if tested else alt.ColorValue(plain)
    points = draw.valid(base, "x").mark_point(
        filled=True, opacity=1, size=85, stroke=colours.background, strokeWidth=0.7
    )
    heads, figures = alt.Chart(draw.rows(headings, "headings")), [(base, colours.ink)]
    if tested:  # a layer for each mark, in its colour
        marks = ((names.SIGNIFICANCE_NAMES[mark], ink) for mark, ink in colours.text.items())
        figures = [(base.transform_filter(alt.datum.significance == mark), ink) for mark, ink in marks]
    return [
        draw.from_edge_to_edge(alt.Chart(draw.rows(drawn, "rows")), draw.down("bottom", height), theme),
        *(
            alt.Chart(draw.rows([line], "nothing"))
            .mark_rule(color=colours.muted, strokeDash=[4, 3], aria=False)
            .encode(x=x)
            for line in nothing
        ),
        *_by_chance(base, nulls, x, chance, theme),
        draw.interval(base, low, mark_y, strokeWidth=3, strokeCap="round", opacity=0.75).encode(color=colour),
        *([own.encode(x=members, y=mark_y)] if any(MEMBERS in row for row in drawn) else []),
        points.encode(x=x, y=mark_y, color=colour, **({"shape": draw.shape()} if tested else {})),
        draw.written(base, "named", draw.LEFT, text_y, limit=alt.expr(f"width - {room}")),
        *(draw.written(one, "figures", draw.RIGHT, text_y, "right", color=ink) for one, ink in figures),
        draw.written(heads, "text", draw.LEFT, draw.down("y"), fontWeight=600, limit=alt.expr("width")),
        draw.clickable(base),
    ]


def _by_chance(
    base: alt.Chart, nulls: list[dict[str, Any]] | None, x: alt.X, chance: alt.X, theme: draw.Theme
) -> list[alt.Chart]:
    """Null histograms, each with a line at the observed value; or only ticks at the null medians."""
    if nulls is None:
        tick: dict[str, Any] = {"orient": "vertical", "size": 12, "thickness": 2, "aria": False}
        middle = draw.valid(base, "chance").mark_tick(**tick, color=draw.palette(theme).muted)
        return [middle.encode(x=chance, y=draw.down("mark_y"))]
    bottom = alt.Y2("base:Q")
    return [
        alt.Chart(draw.rows(nulls, "nulls"))
        .transform_flatten(["x", "top"])
        .mark_area(interpolate="step-after", opacity=0.55, clip=True, strokeWidth=0)
        .encode(x=x, y=draw.down("top"), y2=bottom, detail=alt.Detail("row:N"), color=draw.colour(theme)),
        draw.valid(base, "x")
        .mark_rule(color=draw.palette(theme).ink, strokeWidth=1.6)
        .encode(x=x, y=draw.down("mark_y"), y2=bottom),
    ]


def of_groups(
    found: Iterable[tuple[GroupResult, ChartRow]], shown: Sequence[GroupResult], *, headed: bool
) -> list[ChartRow]:
    """Rows of the groups in `shown`, with names and numbers of raters; below their axes if `headed`."""
    groups = [row.group for row in shown]
    titles, rows = dict(zip(groups, group_labels(groups), strict=True)), []
    for group, row in found:
        if (name := titles.get(group.group)) is None:
            continue
        axis = axis_label(group.group.axes)
        told = {"axis": axis, "raters": group.n_raters, **row.told}
        behind, below = f" ({group.n_raters:,}){row.behind}", axis if headed else ""
        rows.append(replace(row, name=f"{name}{row.name}", behind=behind, below=below, told=told))
    return rows


def on_page(page: int | None) -> slice:
    """Slice of the rows on a page; pages count from 1, rows from 0; all rows for None."""
    return slice(None) if page is None else slice((page - 1) * PAGE, page * PAGE)


def quantile(null: Histogram, share: float) -> float:
    """Value below which `share` of the histogram lies, linear within its bin."""
    total = sum(null.counts)
    width = (null.high - null.low) / len(null.counts)
    below = 0
    for position, count in enumerate(null.counts):
        if count and below + count >= share * total:
            return null.low + width * (position + (share * total - below) / count)
        below += count
    return null.high


def shared_domain(outcomes: Sequence[Outcome]) -> tuple[float, float]:
    """Range of the shared axis: all values that are drawn, unless a few wild rows would squash the rest."""
    ranges = []
    for outcome in outcomes:
        drawn = [] if outcome.value is None else [outcome.value]
        if outcome.null is not None and sum(outcome.null.counts) > 0:
            drawn += [quantile(outcome.null, _TAIL), quantile(outcome.null, 1 - _TAIL)]
        if outcome.interval is not None:
            drawn += [outcome.interval.low, outcome.interval.high]
        if drawn:
            ranges.append((min(drawn), max(drawn)))
    if not ranges:
        return 0.0, 1.0
    low, high = min(ends[0] for ends in ranges), max(ends[1] for ends in ranges)
    typical = median(ends[1] - ends[0] for ends in ranges)
    if typical > 0:
        centre = median((ends[0] + ends[1]) / 2 for ends in ranges)
        low, high = max(low, centre - _REACH * typical), min(high, centre + _REACH * typical)
    margin = 0.03 * (high - low) or 0.05 * max(abs(high), 0.1)
    return low - margin, high + margin


def rounded_outwards(domain: tuple[float, float]) -> tuple[float, float]:
    """Widen a range to round numbers, which stay while further shuffled values widen the range a little."""
    step = 10.0 ** math.floor(math.log10(domain[1] - domain[0])) / 4
    return math.floor(domain[0] / step) * step, math.ceil(domain[1] / step) * step


def within(domain: tuple[float, float], value: float | None) -> float | None:
    """The position in a domain that is nearest to a value; None for None."""
    return None if value is None else min(max(value, domain[0]), domain[1])


def moved(outcome: Outcome, place: Callable[[float], float]) -> Outcome:
    """Move an outcome to another axis: `place` converts its values."""
    null, interval, median_ = outcome.null, outcome.interval, outcome.null_median
    return replace(
        outcome,
        value=None if outcome.value is None else place(outcome.value),
        null=null and Histogram(place(null.low), place(null.high), null.counts),
        null_median=None if median_ is None else place(median_),
        interval=interval and replace(interval, low=place(interval.low), high=place(interval.high)),
    )
