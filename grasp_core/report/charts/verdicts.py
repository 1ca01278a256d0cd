"""Groups by verdict: how their answers differ from the others', and how much they agree inside."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import altair as alt

from grasp_core.model.groups import one_line, spoken
from grasp_core.model.outcome import Kind, Outcome, Shift, Significance, VerdictCode
from grasp_core.model.result import RunResult
from grasp_core.report.charts import theme as draw
from grasp_core.report.charts.rows import within
from grasp_core.report.findings.advice import doubted
from grasp_core.report.findings.finding import BECAUSE_OF, COHESION, NO_EFFECT, Finding
from grasp_core.report.findings.selection import by_verdict
from grasp_core.report.tables import FEWEST, IN_TABLES, ends, explaining_groups
from grasp_core.report.words import label_use
from grasp_core.report.words.names import (
    VERDICT_NAMES,
    InPlaceOfGai,
    format_value,
    in_brackets,
    shown_outcome,
)

SHOWN = 8
"""Number of groups that are drawn; the others are under *Groups in numbers*."""
FILLED = 6
"""Number of groups drawn even if no difference was found: enough to see how such groups look."""
CHOSEN = "chosen"
"""The selection with the `name` of the group whose row was clicked."""
NOT_DRAWN = f"No group has a verdict to be drawn; {IN_TABLES}"
_COLOURS: Mapping[VerdictCode, Significance] = {"clear": "corrected", "hint": "nominal"}
_SAME, _ROWS = "same", "rows"
_SAID = 22
"""Number of characters that fit beside a group for its difference."""
_HEAD, _FOOT = 28, 22
"""Pixels above and below the rows, for headings and for the texts of ticks."""


@dataclass(frozen=True, slots=True)
class _Places:
    """Shares of the width for names, both panels and words; positions of words in a row, in pixels.

    `longest`: number of characters of a name that fit.
    """

    named: float
    left: tuple[float, float]
    right: tuple[float, float]
    said: tuple[float, float]
    row: int
    name_y: int
    status_y: int
    said_y: int
    mark_y: int
    line_y: int
    longest: int


_WIDE = _Places(0.30, (0.32, 0.60), (0.79, 0.99), (0.62, 0.16), 50, 16, 34, 25, 25, 0, 32)
_NARROW = _Places(0.58, (0.02, 0.56), (0.66, 0.98), (0.62, 0.38), 74, 12, 30, 12, 56, 42, 25)


@dataclass(frozen=True, slots=True)
class _Panel:
    """One of the two panels: its heading, the value of each group and the texts of ticks."""

    heading: str
    of: Callable[[Finding], Outcome]
    same: float
    words: Callable[[float], str]
    kinds: tuple[Kind, ...]
    write: Callable[[float | None], str] = format_value
    round: bool = True


def drawn_groups(result: RunResult) -> tuple[Finding, ...]:
    """The groups to draw, clearest first; the two halves of an axis are one.

    Clear groups of any size are drawn, since the title may name them; all groups are drawn if none is large.
    """
    found = by_verdict(result)
    codes = {one.row.group: one.verdict and one.verdict.code for one in found}
    known = [one for one in found if one.row.n_raters >= FEWEST or codes[one.row.group] == "clear"]
    able = known if any(one.row.n_raters >= FEWEST for one in known) else found
    different = sum(codes[one.row.group] != "none" for one in able)
    return tuple(able[: min(max(different, FILLED), SHOWN)])


def verdict_chart(result: RunResult, theme: draw.Theme = "light", *, narrow: bool = False) -> alt.LayerChart:
    """At most eight groups, clearest first: how their answers differ, and how much they agree inside."""
    found = [doubted(one, result) for one in drawn_groups(result)]
    if not found:
        return draw.message(theme, heading=None, text=NOT_DRAWN)
    return _Drawing(result, found, _NARROW if narrow else _WIDE, theme).chart()


def named_rows(spec: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The name of the group in each row of this chart's Vega-Lite, and the groups that the row is of."""
    drawn = next(one["data"]["values"] for one in spec["layer"] if one["data"].get("name") == _ROWS)
    return [(row["name"], row["group"]) for row in json.loads(drawn)]


def _one_label(found: list[Finding]) -> str | None:
    """If there are two labels, the one that all groups are drawn by: more of it lies right, and less left."""
    uses = [one.row.label_use for one in found]
    if any(use is None or len(use.labels) != 2 for use in uses) or uses[0] is None:
        return None
    told = label_use.label_for_sentence(uses[0])
    return None if told is None else told[0]


def _of_little(one: Finding) -> bool:
    """Return whether a group has a gap, but no GAI, or a GAI that says little."""
    gai, gap = shown_outcome(one.row, "gai"), one.row.statistics.get("gap", Outcome(None))
    return gap.value is not None and (gai.value is None or isinstance(gai, InPlaceOfGai))


class _Drawing:
    """The chart of some groups, with the data that all its layers share."""

    def __init__(self, result: RunResult, found: list[Finding], places: _Places, theme: draw.Theme) -> None:
        self._result, self._found, self._places, self._theme = result, found, places, theme
        self._label = _one_label(found)
        means = [label_use.scale_outcome(one.row.label_use, result) for one in found]
        self._scaled = all(one is not None and one.value is not None for one in means)
        self._uncertain = {group for one in found if one.undone for group in one.groups}
        self._height = _HEAD + places.row * len(found) + _FOOT
        self._named = [self._of_group(one, _HEAD + places.row * place) for place, one in enumerate(found)]

    def chart(self) -> alt.LayerChart:
        """Return rows to click on, lines between them, both panels, and words."""
        lines = alt.Chart(draw.rows([{"y": row["bottom"]} for row in self._named], "lines"))
        layers = [draw.from_edge_to_edge(lines, draw.down("y", self._height), self._theme)]
        layers += self._drawn("left", self._left(), self._places.left)
        right = self._right()
        layers += [] if right is None else self._drawn("right", right, self._places.right)
        layers += self._texts()
        told = "; ".join(
            f"{row['group']}: {', '.join(filter(None, (row['status'], row['said'])))}" for row in self._named
        )
        a_click = alt.selection_point(name=CHOSEN, fields=["name"])  # a click on a row chooses its group
        whole = alt.Chart(draw.rows(self._named, _ROWS))
        clicked = draw.clickable(whole, cursor="pointer", aria=False).add_params(a_click)
        alt_text = f"Groups by verdict. {told}."
        return draw.finish(
            [clicked, *layers], self._theme, heading=None, alt_text=alt_text, height=self._height
        )

    def _told(self, one: Finding) -> tuple[str, Shift] | None:
        """The label that the group is drawn by, and its shift."""
        use = one.row.label_use
        if use is None or self._label is None:
            return None if use is None else label_use.label_for_sentence(use)
        return self._label, use.labels[self._label]

    def _left(self) -> _Panel:
        """Left panel: the shift of the mean on a scale, else of each group's label (one for all if two)."""
        if self._scaled:
            unit = " in steps" if self._result.spec.analysis.level == "ordinal" else ""
            return _Panel(
                f"Difference of the average{unit}",
                lambda one: label_use.scale_outcome(one.row.label_use, self._result) or Outcome(None),
                0.0,
                lambda value: (
                    f"{format_value(abs(value)).rstrip('0').rstrip('.')} {label_use.higher_or_lower(value)}"
                ),
                ("labels",),
            )

        def of_label(one: Finding) -> Outcome:
            told = self._told(one)
            return Outcome(None) if told is None else label_use.shift_outcome(one.row.label_use, told[0])

        return _Panel(
            "Difference per 100 answers",
            of_label,
            0.0,
            lambda value: f"{abs(value):g} {'more' if value > 0 else 'fewer'}",
            ("labels",),
            label_use.write_points,
        )

    def _right(self) -> _Panel | None:
        able = [one for one in COHESION if one in self._result.spec.analysis.statistics]
        if not able:
            return None
        # If any ratio has no value, or comes from an XRR near 0, the gap of all groups is drawn.
        name = next((one for one in able if one != "gai" or not any(map(_of_little, self._found))), able[0])
        same = NO_EFFECT[name]
        return _Panel(
            "Agree among themselves",
            lambda one: one.row.statistics.get(name, Outcome(None)),
            same,
            lambda value: "more" if value > same else "less",
            ("cohesion",),
            round=False,
        )

    def _of_group(self, one: Finding, top: int) -> dict[str, Any]:
        """A group's name, its verdict and difference in words, and their positions."""
        verdict, places = one.verdict, self._places
        code: VerdictCode = "none" if verdict is None else verdict.code
        status, colour = VERDICT_NAMES[code], _COLOURS.get(code, "none")
        if verdict is not None and verdict.by is not None:
            perhaps = "perhaps " if verdict.by in self._uncertain else ""
            differs = "" if one.link_words == BECAUSE_OF else "differs "
            others = explaining_groups(self._result, one.row)
            whom = spoken(verdict.by) if len(others) == 1 else f"{len(others)} others"
            status = f"{perhaps}{differs}only {one.link_words} {whom}"
        if one.undone and code == "clear":
            status, colour = "not certain: something else may explain it", "nominal"
        size = ", ".join(f"{half.row.n_raters:,}" for half in (one, one.other) if half is not None)
        return {
            "name": one.name,
            "group": one.title,
            "named": f"{_short(one, places.longest)} ({size})",
            "status": status,
            "colour": draw.palette(self._theme).text[colour],
            "weight": 600 if code == "clear" else 400,
            "top": top,
            **{name: top + getattr(places, name) for name in ("name_y", "status_y", "mark_y")},
            "said_x": places.said[0],
            "said_y": top + places.said_y,
            "line": top + places.line_y,
            "bottom": top + places.row,
            "kinds": verdict.kinds if verdict is not None and colour == "corrected" else (),
            "said": self._said(one),
        }

    def _said(self, one: Finding) -> str:
        """Say in two or three words how a group differs; without a difference, what the left panel shows."""
        verdict = one.verdict
        kind = verdict.kinds[0] if verdict is not None and verdict.kinds else None
        if kind == "items" and one.less_united is None:
            return "differ on some items"
        who = "" if one.other is None else f"{one.spoken}: "
        if kind == "spread" and verdict is not None and verdict.spread is not None:
            return f"{who}vary {'more' if verdict.spread.ratio > 1 else 'less'}"
        if kind == "items":
            return f"{who}agree less"
        if kind == "cohesion":
            return f"{who}agree {'less' if one.outcome.direction == 'down' else 'more'}"
        mean = label_use.scale_outcome(one.row.label_use, self._result) if self._scaled else None
        if mean is not None and mean.value is not None:
            if self._result.spec.analysis.level == "ordinal" and abs(mean.value) < label_use.A_STEP:
                return f"{who}{_SAME}"
            return f"{who}{label_use.of_scale(mean.value)} {label_use.higher_or_lower(mean.value)}"
        told = self._told(one)
        if told is None or told[1].value is None:
            return ""
        name, amount = one_line(told[0]), label_use.of_100(told[1].value)
        name = name if len(name) <= 12 else name[:11] + "…"
        amount = "as often" if amount.startswith("0.0") else amount
        said = f"{who}“{name}” {amount}"
        return said if len(said) <= _SAID else f"{who}{amount} “{name}”"  # the name is cut, not the number

    def _drawn(self, name: str, panel: _Panel, across: tuple[float, float]) -> list[alt.Chart]:
        """A panel: ticks behind each group's marks, their texts below, the heading, and the marks."""
        outcomes, same = [panel.of(one) for one in self._found], panel.same
        # As far as values and their intervals reach from no difference, up to 2.5 times the furthest value.
        reach = max((abs(one.value - same) for one in outcomes if one.value is not None), default=1.0) or 1.0
        sizes = [abs(end - same) for one in outcomes for end in ends(one) if end is not None]
        most = min(max([reach, *sizes]), 2.5 * reach)
        domain = same - 1.06 * most, same + 1.06 * most

        def place(value: float | None) -> float | None:
            inside = within(domain, value)
            if inside is None:
                return None
            return across[0] + (inside - domain[0]) / (domain[1] - domain[0]) * (across[1] - across[0])

        drawn = []
        for row, outcome in zip(self._named, outcomes, strict=True):
            low, high = ends(outcome)
            filled = any(kind in row["kinds"] for kind in panel.kinds)
            drawn.append(
                {
                    **{key: row[key] for key in ("name", "group", "status", "colour", "mark_y")},
                    "x": place(outcome.value),
                    "low": place(low),
                    "high": place(high),
                    "cut_low": low is not None and low < domain[0],
                    "cut_high": high is not None and high > domain[1],
                    "fill": row["colour"] if filled else draw.palette(self._theme).background,
                    "value": panel.write(outcome.value),
                    "interval": in_brackets(low, high, panel.write),
                }
            )
        # No difference, and one step to each side: a round number if ticks show an amount.
        reach = 0.9 * (domain[1] - same)
        steps = [size * 10.0**power for power in range(-3, 5) for size in (1, 2, 3, 5)] if panel.round else []
        step = max((one for one in steps if one <= reach), default=reach)
        ticks = [
            {"x": place(one), "text": _SAME if one == same else panel.words(one), "same": one == same}
            for one in (same - step, same, same + step)
        ]
        return [*self._around(name, panel.heading, across, ticks), *_marks(name, panel.heading, drawn)]

    def _around(
        self, name: str, words: str, across: tuple[float, float], ticks: list[dict[str, Any]]
    ) -> list[alt.Chart]:
        """Lines of the ticks, not through the names above the marks; texts of ticks; the panel's heading."""
        x, colours = draw.share("x"), draw.palette(self._theme)
        last = name == "right"  # its heading ends where the chart does
        heading = {"x": 1.0 if last else across[0], "text": words}
        limit = alt.expr(f"width * {across[1] - across[0] + 0.08}")
        lines = [
            {
                **tick,
                "top": row["line"],
                "bottom": row["bottom"],
                "colour": colours.muted if tick["same"] else colours.grid,
            }
            for tick in ticks
            for row in self._named
        ]
        return [
            alt.Chart(draw.rows(lines, f"{name}-grid"))
            .mark_rule(aria=False)
            .encode(x=x, y=draw.down("top"), y2=alt.Y2("bottom:Q"), color=draw.as_given()),
            alt.Chart(draw.rows(ticks, f"{name}-ticks"))
            .mark_text(color=colours.muted, baseline="top")
            .encode(x=x, y=_row(self._height - 18), text=alt.Text("text:N")),
            alt.Chart(draw.rows([heading], f"{name}-heading"))
            .mark_text(align="right" if last else "left", color=colours.muted, limit=limit)
            .encode(x=x, y=_row(10), text=alt.Text("text:N")),
        ]

    def _texts(self) -> list[alt.Chart]:
        base = alt.Chart(draw.rows(self._named, "groups"))
        limit, said = (alt.expr(f"width * {share}") for share in (self._places.named, self._places.said[1]))
        look: dict[str, Any] = {"fontSize": 13, "color": draw.palette(self._theme).ink, "limit": limit}
        y = draw.down("name_y")
        named = ((weight, base.transform_filter(alt.datum.weight == weight)) for weight in (400, 600))
        names = (draw.written(of, "named", draw.LEFT, y, fontWeight=weight, **look) for weight, of in named)
        status = draw.written(base, "status", draw.LEFT, draw.down("status_y"), limit=limit)
        told = draw.written(base, "said", draw.share("said_x"), draw.down("said_y"), limit=said)
        return [*names, status.encode(color=draw.as_given()), told.encode(color=draw.as_given())]


def _short(one: Finding, longest: int) -> str:
    """A group's name; a long name is cut to the beginning of each of its values."""
    if len(one.said) <= longest:
        return one.said
    values = [one_line(value) for group in one.groups for value in group.values]
    most = longest // len(values)
    cut = [value if len(value) <= most else f"{value[: most - 1].rstrip(' ,')}…" for value in values]
    each = len(one.row.group.values)
    names = [" ".join(cut[start : start + each]) for start in range(0, len(cut), each)]
    return " and ".join(names)


def _marks(name: str, words: str, drawn: list[dict[str, Any]]) -> list[alt.Chart]:
    """Each group's interval, an arrow at an end that lies further out than is drawn, and its value on top."""
    y = draw.down("mark_y")
    told = draw.tooltip("group", "status", "value", "interval", status="Verdict", value=words)
    return [
        draw.interval(
            alt.Chart(draw.rows(drawn, name)), draw.share("low"), y, strokeWidth=3, strokeCap="round"
        ).encode(color=draw.as_given()),
        *(
            alt.Chart(alt.NamedData(name))
            .transform_filter(alt.datum[f"cut_{end}"])
            .mark_point(shape=shape, size=60, opacity=1, filled=True, aria=False)
            .encode(x=draw.share(end), y=y, color=draw.as_given())
            for end, shape in (("low", "triangle-left"), ("high", "triangle-right"))
            if any(row[f"cut_{end}"] for row in drawn)
        ),
        alt.Chart(alt.NamedData(name))
        .encode(tooltip=told)
        .transform_filter("isValid(datum.x)")
        .mark_point(size=90, opacity=1, strokeWidth=2)
        .encode(
            x=draw.share("x"),
            y=y,
            stroke=alt.Stroke("colour:N", scale=None, legend=None),
            fill=alt.Fill("fill:N", scale=None, legend=None),
        ),
    ]


def _row(pixels: int) -> alt.YValue:
    return alt.YValue(pixels)  # type: ignore[no-untyped-call]  # Altair's
