"""Figures of a result by name."""

from collections.abc import Callable, Mapping
from typing import Any

import altair as alt

from grasp_core.model.errors import SpecError
from grasp_core.model.groups import AxisSet
from grasp_core.model.result import GroupResult, RunResult, SlicesResult
from grasp_core.model.statistic import TABLE
from grasp_core.model.text import listed
from grasp_core.notebook.options import group_of, texts
from grasp_core.report.charts import forest
from grasp_core.report.charts.histograms import group_histograms, null_histograms
from grasp_core.report.charts.maps import cohesion_map
from grasp_core.report.charts.matrix import pairs_matrix
from grasp_core.report.pairs import label_key, measures
from grasp_core.report.slices import sliced_groups
from grasp_core.report.tables import with_label_use
from grasp_core.report.words.names import lead_statistic

_Of = Mapping[str, Any]


def drawn(result: RunResult, name: str, of: _Of) -> alt.LayerChart:
    """Draw the figure of this name.

    `of`: its choices: some of `statistic`, `label`, `group`, `axis`, `column`, `order` and `theme`.
    """
    if name not in _FIGURES:
        raise SpecError(f"there is no figure {name!r}; there are {listed(tuple(_FIGURES))}")
    draw, takes = _FIGURES[name]
    for given in of:
        if given not in (*takes, "theme"):
            raise SpecError(f"figure {name!r} takes {listed((*takes, 'theme'))}; found {given!r}")
    if of.get("theme", "light") not in ("light", "dark"):
        raise SpecError(f"the theme is 'light' or 'dark'; found {of['theme']!r}")
    return draw(result, of)


def _statistic(result: RunResult, of: _Of) -> str:
    name = of.get("statistic", lead_statistic(result))
    if name not in TABLE:
        raise SpecError(f"a statistic is one of {', '.join(TABLE)}; found {name!r}")
    return str(name)


def _row(result: RunResult, of: _Of) -> GroupResult:
    rows = {row.group: row for row in result.groups}
    return rows[group_of(of.get("group"), rows)]


def _one(what: str, asked: Any, there: Mapping[Any, Any]) -> Any:
    """Return the one that is asked for, or the only one there is."""
    found = next(iter(there)) if asked is None and len(there) == 1 else asked
    if found not in there:
        known = ", ".join(map(repr, there)) or "none"
        raise SpecError(f"{what} is one of this result's ({known}); found {asked!r}")
    return there[found]


def _theme(of: _Of) -> Any:
    return of.get("theme", "light")


def _forest(result: RunResult, of: _Of) -> alt.LayerChart:
    order = _order(of)
    if "label" in of:
        return forest.label_forest_plot(result, _label(result, of), _theme(of), order)
    return forest.forest_plot(result, _statistic(result, of), _theme(of), order)


def _label(result: RunResult, of: _Of) -> str:
    labels = {label: label for _, use in with_label_use(result) for label in use.labels}
    (named,) = texts(of["label"])
    return str(_one("the label", named, labels))


def _order(of: _Of) -> Any:
    order = of.get("order", "axis")
    if order not in ("axis", "effect", "q"):
        raise SpecError(f"the order is 'axis', 'effect' or 'q'; found {order!r}")
    return order


def _pairs(result: RunResult, of: _Of) -> alt.LayerChart:
    there = measures(result)
    axes: dict[AxisSet, AxisSet] = {row.a.axes: row.a.axes for row in result.pairs}
    axis = _one("the axis", None if "axis" not in of else texts(of["axis"]), axes)
    asked = label_key(of["label"]) if "label" in of else of.get("statistic", next(iter(there)))
    return pairs_matrix(result, axis, _one("label or statistic", asked, there), _theme(of))


def _slices(result: RunResult, of: _Of) -> alt.LayerChart:
    columns = {found.column: found for found in result.slices}
    found: SlicesResult = _one("the column", of.get("column"), columns)
    group = group_of(of.get("group"), dict.fromkeys(sliced_groups(result, found)))
    what = (_label(result, of), True) if "label" in of else (_statistic(result, of), False)
    return forest.slices_chart(result, found.column, group, what, _theme(of))


_FIGURES: Mapping[str, tuple[Callable[[RunResult, _Of], alt.LayerChart], tuple[str, ...]]] = {
    "forest": (_forest, ("statistic", "label", "order")),
    "histograms": (
        lambda result, of: null_histograms(result, _statistic(result, of), _theme(of), _order(of)),
        ("statistic", "order"),
    ),
    "cohesion": (lambda result, of: cohesion_map(result, _theme(of)), ()),
    "dsi": (lambda result, of: forest.dsi_chart(result, _theme(of)), ()),
    "label_use": (
        lambda result, of: forest.label_use_chart(result, _row(result, of), _theme(of)),
        ("group",),
    ),
    "group": (lambda result, of: group_histograms(result, _row(result, of), _theme(of)), ("group",)),
    "pairs": (_pairs, ("axis", "label", "statistic")),
    "slices": (_slices, ("column", "group", "statistic", "label")),
}
