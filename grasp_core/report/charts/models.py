"""Models as raters, and the leaderboard."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from grasp_core.analysis.models.result import ModelsResult, ModelSummary, Side
from grasp_core.benchmark.leaderboard import OVERALL, Entry, ranked
from grasp_core.model.groups import axis_label, group_labels, one_line
from grasp_core.model.outcome import Outcome
from grasp_core.report.charts import theme as draw
from grasp_core.report.models import EVERYBODY, lead_of
from grasp_core.report.words.names import LEAD, NOT_ESTIMABLE, SIGNIFICANCE_NAMES, format_p, format_value

_ROW = 30
_NAMES_WIDTH = 170
HERE, PUBLISHED = "Scored here", "Published"


def leaderboard_chart(
    entries: Sequence[Entry], column: str = OVERALL, theme: draw.Theme = "light"
) -> alt.LayerChart:
    """A point per system, best first: filled where it was scored here, hollow where it was published."""
    name = "all tasks (mean)" if column == OVERALL else column
    data: list[dict[str, Any]] = []
    for place, entry in enumerate(ranked(entries, column)):
        score, (low, high) = entry.score(column), entry.ci95.get(column, (None, None))
        if score is not None:
            data.append(
                {
                    "system": entry.name,
                    "score": score,
                    "shown": f"{score:.3f}",
                    "low": low,
                    "high": high,
                    "scored": HERE if entry.own else PUBLISHED,
                    "source": entry.source or "this server",
                    "middle": place + 0.5,
                }
            )
    interval = ", with a 95 % interval" if any(row["low"] is not None for row in data) else ""
    heading = draw.title(f"Macro-F1: {name}", f"Filled: scored here{interval}. Hollow: published.")
    if not data:
        return draw.message(theme, heading=heading, text="No system has a score here yet.")
    alt_text = "; ".join(f"{row['system']} {row['score']:.3f} ({row['scored']})" for row in data)
    alt_text = f"Macro-F1 of {name}, best first: {alt_text}."
    return draw.finish(
        _layers(data, theme), theme, heading=heading, alt_text=alt_text, height=_ROW * len(data)
    )


def _layers(data: list[dict[str, Any]], theme: draw.Theme) -> list[alt.Chart]:
    colours = draw.palette(theme)
    base = alt.Chart(draw.rows(data, "systems"))
    x = alt.X(
        "score:Q",
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=alt.Axis(title="Macro-F1", tickCount=draw.ticks(), tickMinStep=0.1, format=".1f"),
    )
    y = draw.down("middle", len(data))
    told = draw.tooltip("system", "shown", "scored", "source", shown="Macro-F1")
    here, elsewhere = (base.transform_filter(alt.datum.scored == name) for name in (HERE, PUBLISHED))
    ink = colours.significance["corrected"]
    points = {
        HERE: here.mark_point(filled=True, shape="diamond", size=130, color=ink, opacity=1),
        PUBLISHED: elsewhere.mark_point(
            filled=False, shape="circle", size=80, color=colours.muted, opacity=1
        ),
    }
    scored = {row["scored"] for row in data}
    return [
        draw.interval(here, alt.X("low:Q"), y, strokeWidth=2, color=ink),
        # Marks that are not there would be a picture without a name to a screen reader.
        *(mark.encode(x=x, y=y, tooltip=told) for name, mark in points.items() if name in scored),
        draw.written(base, "system", draw.LEFT, y, "right", dx=-10, limit=_NAMES_WIDTH, fontSize=13).encode(
            tooltip=told
        ),
        draw.written(base, "shown", draw.RIGHT, y, dx=12, fontWeight=600),
    ]


_LINE = 19
_GAP = 13
_NAME_LIMIT = 220
_NAME_LENGTH = 34
_WORDS_LIMIT = 300


def models_chart(result: ModelsResult, theme: draw.Theme = "light") -> alt.LayerChart:
    """Macro-F1 of every model against every group's plurality, a block of rows per group."""
    heading = draw.title(
        "Whose judgements each model reproduces",
        [
            "Macro-F1 against the plurality of all raters, then against each group’s own.",
            "Line: from random groups of the same size (tick) to the group; ×: what its own members reach.",
        ],
    )
    if not result.groups or not result.models:
        return draw.message(theme, heading=heading, text="There is no group or no model to show.")
    data, height = _rows(result)
    layers = _layers_of_models(data, float(height), theme)
    return draw.finish(layers, theme, heading=heading, alt_text=_alt(result), height=height)


def _rows(result: ModelsResult) -> tuple[list[dict[str, Any]], int]:
    """A row per group and model; `y` in pixels from the top."""
    found: list[dict[str, Any]] = []
    top = 0
    labels = [EVERYBODY, *group_labels([row.group for row in result.groups])]
    for label, row in zip(labels, [None, *result.groups], strict=True):
        # Cut in the middle: groups of an intersection often differ at the end alone.
        name = label if len(label) <= _NAME_LENGTH else f"{label[: _NAME_LENGTH - 13]}…{label[-12:]}"
        for position, model in enumerate(result.models):
            side = None if row is None else row.models[model.name]
            outcome = Outcome(model.overall_f1) if side is None else side.statistics[LEAD]
            found.append(
                {
                    "group": label,
                    "name": name if position == 0 else "",
                    "axis": "" if row is None else axis_label(row.group.axes),
                    "raters": result.data.raters if row is None else row.n_raters,
                    "model": one_line(model.name),
                    "y": top + (position + 0.5) * _LINE,
                    **_figures(outcome, side, model, result.spec.analysis.permutations),
                }
            )
        top += len(result.models) * _LINE + _GAP
    return found, top


def _figures(outcome: Outcome, side: Side | None, model: ModelSummary, permutations: int) -> dict[str, Any]:
    value, tested = format_value(outcome.value), list[str]()
    if outcome.p is not None:
        values = (("p", outcome.p), ("q", outcome.q))
        tested = [format_p(one, name=name, permutations=permutations) for name, one in values]
    marked = [value, *tested[1:], draw.badge(outcome.significance)]
    if outcome.value is None:
        marked = [f"{NOT_ESTIMABLE}: {outcome.reason}"]
    return {
        "x": outcome.value,
        "chance": outcome.null_median,
        "members": None if side is None else side.members_f1,
        "value": value,
        "tested": ", ".join(tested),
        "significance": SIGNIFICANCE_NAMES[outcome.significance],
        "words": f"{one_line(model.name)} {', '.join(filter(None, marked))}",
    }


def _layers_of_models(data: list[dict[str, Any]], height: float, theme: draw.Theme) -> list[alt.Chart]:
    colours = draw.palette(theme)
    base = alt.Chart(draw.rows(data, "models"))
    axis = alt.Axis(
        title="Macro-F1 (1 = a perfect copy)", tickCount=draw.ticks(), tickMinStep=0.1, format=".1f"
    )
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, 1.02], nice=False), axis=axis)
    y = draw.down("y", height)
    told = draw.tooltip(
        *("model", "group", "axis", "raters", "value", "tested", "significance"),
        **{"value": "Macro-F1", "tested": "Against random groups", "significance": "Result"},
    )
    tested = base.transform_filter("isValid(datum.x) && isValid(datum.chance)")
    # Also data of its own: Altair hoists what all layers share, and Streamlit takes that for a frame.
    copy = alt.Chart(draw.rows([{"x": 1}], "copy")).mark_rule(color=colours.muted, strokeDash=[4, 3])
    return [
        copy.encode(x=x),
        # Lines from the median random group, its tick, and crosses for the group's own members.
        tested.mark_rule(strokeWidth=3, opacity=0.55, aria=False).encode(
            x=x, x2=alt.X2("chance:Q"), y=y, color=draw.colour(theme)
        ),
        draw.tick(tested, alt.X("chance:Q"), y, theme, size=11, thickness=2, aria=False),
        draw.valid(base, "members")
        .mark_point(
            shape="cross", angle=45, size=45, filled=True, color=colours.ink, opacity=0.75, aria=False
        )
        .encode(x=alt.X("members:Q"), y=y),
        draw.marked(draw.valid(base, "x"), x, y, theme, size=95).encode(tooltip=told),
        draw.written(base, "name", draw.LEFT, y, "right", dx=-10, limit=_NAME_LIMIT, fontSize=12).encode(
            tooltip=told
        ),
        *draw.by_mark(base, "words", draw.RIGHT, y, theme, dx=14, limit=_WORDS_LIMIT, fontSize=11),
    ]


def _alt(result: ModelsResult) -> str:
    labels = group_labels([row.group for row in result.groups])
    parts = []
    for model in result.models:
        marked = []
        for label, row in zip(labels, result.groups, strict=True):
            outcome = lead_of(row, model.name)
            if outcome.significance != "none":
                words = SIGNIFICANCE_NAMES[outcome.significance]
                marked.append(f"{label} {format_value(outcome.value)} ({words})")
        values = [value for row in result.groups if (value := lead_of(row, model.name).value) is not None]
        span = f"from {format_value(min(values))} to {format_value(max(values))}" if values else NOT_ESTIMABLE
        parts.append(
            f"{one_line(model.name)} {format_value(model.overall_f1)} against all raters, {span} "
            f"against groups; apart from random groups: {', '.join(marked) or 'none'}"
        )
    return f"Macro-F1 of each model against each group's plurality. {'. '.join(parts)}."
