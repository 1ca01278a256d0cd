"""The map of raters: made when it is looked at, and kept with the run."""

from __future__ import annotations

import functools
from functools import partial

import altair as alt
import streamlit as st

from grasp_core.analysis.rater_map import MapTask, rater_map
from grasp_core.analysis.rater_map_values import (
    ANSWER,
    RaterMap,
    map_without_small_groups,
    of_answer,
    rater_map_dict,
)
from grasp_core.model.access import only
from grasp_core.model.errors import DataError, MissingResultError
from grasp_core.model.groups import AxisSet, Group, axis_label, group_label
from grasp_core.model.json_values import to_json
from grasp_core.model.result import RunResult
from grasp_core.model.text import escape_markdown, json_text
from grasp_core.report.charts import Theme
from grasp_core.report.charts.maps import rater_map_chart
from grasp_core.report.rater_map import (
    EXPLANATION,
    axes_table,
    clearest,
    distance_words,
    groups_table,
    map_csv,
    sentences,
)
from grasp_core.server import server
from grasp_core.store.runs import RunRecord
from pages._ui.helpers.identity import require_run, stores_of
from pages._ui.helpers.outputs import download, save_figure
from pages._ui.helpers.widgets import Shown, show_table, when_open
from pages._ui.result import cache
from pages._ui.result.items import soon_found


def has_rater_map(shown: Shown) -> bool:
    """Whether there is a map of the run's raters, or the viewer may ask for one."""
    result = shown.result
    if shown.run is None or result.provisional or result.later is not None:
        return False
    return not shown.stranger or map_of(shown, shown.run) is not None


def show_rater_map(shown: Shown, group: Group | None = None) -> None:
    """Draw the map, coloured by an axis or by one group and all others; ask for it where there is none.

    Where :func:`has_rater_map` says that there may be one.
    """
    if shown.run is None:
        return
    found = map_of(shown, shown.run)
    if found is None and not shown.stranger:
        found = _make(shown.run, shown.result)
    if found is not None:
        level = shown.result.spec.analysis.level
        if group is None or found.reason is not None:
            for sentence in sentences(found, level):
                st.markdown(f"- {sentence.markdown}")
        if found.reason is not None:
            return
        axes = _coloured_by(found) if group is None else group.axes
        if all(one.axes != axes for one in found.axes):
            return

        def chart(theme: Theme = "light") -> alt.LayerChart:
            return rater_map_chart(found, axes, theme, group)

        st.caption(EXPLANATION)
        cache.chart(shown.key, f"raters {axes} {group}", found, lambda _found, theme: chart(theme))
        if group is None:
            show_table(axes_table(found), "What each axis explains, with p and q")
        name = "the map" if group is None else group_label(group)
        when_open("Map as a table", lambda: _table(shown, found, group), key=f"rater-map-table-{name}")

        save_figure(shown, chart, ANSWER, "map of raters")
        if group is not None:
            return
        run, check = shown.run, shown.check
        with st.container(horizontal=True):
            download(check, "map of raters (CSV)", f"{ANSWER}.csv", lambda: map_csv(found), type="tertiary")
            if not shown.stranger:
                made = partial(rater_map_dict, found, run.spec, run.summary.sha256)
                name = f"{ANSWER}.json"
                download(check, "map of raters (JSON)", name, lambda: json_text(made()), type="tertiary")


def map_of(shown: Shown, run: RunRecord) -> RaterMap | None:
    """The map of a run's raters, if it was made and the viewer may see it."""
    found = kept_map(run)
    return found if shown.small_groups else map_without_small_groups(found, shown.result)


def kept_map(run: RunRecord) -> RaterMap | None:
    """The map of a run's raters, if it was made."""
    try:
        return _kept(run.id, run.project)
    except MissingResultError:
        return None


@functools.lru_cache(maxsize=32)
def _kept(run_id: str, project: str) -> RaterMap:
    found = of_answer(server.shared().seen(only(project)).answers.find(run_id, ANSWER))
    if found is None:
        raise MissingResultError(
            "There is no map of this run's raters yet."
        )  # raised: what is returned is kept
    return found


def _make(run: RunRecord, result: RunResult) -> RaterMap | None:
    """Place the raters, with a bar, which any click ends; asked first where it takes long."""
    wait = st.empty()
    with wait.container():
        if not soon_found(run, result):
            st.caption(EXPLANATION)
            if not st.button("Draw the map of raters", icon=":material/scatter_plot:", key="draw-rater-map"):
                return None
        require_run(run.project)
        shared = server.shared()
        bar = st.progress(0.0, text="Placing the raters")
        try:
            made = rater_map(
                MapTask.of(shared.service.data_of(run), run.spec.analysis),
                shared.service.pool.each,
                lambda share: bar.progress(share, text=f"Placing the raters: {share:.0%}"),
            )
        except DataError as error:
            st.warning(escape_markdown(str(error)))
            return None
        stores_of(run).answers.keep(run.id, ANSWER, to_json(made))
    wait.empty()
    return made


def _coloured_by(found: RaterMap) -> AxisSet:
    """An axis, at first that which disagreement follows most clearly."""
    chosen: int = st.segmented_control(
        "Coloured by",
        range(len(found.axes)),
        default=found.axes.index(clearest(found)),
        required=True,
        format_func=lambda place: axis_label(found.axes[place].axes),
        key="rater-map-axis",
    )
    return found.axes[chosen].axes


def _table(shown: Shown, found: RaterMap, group: Group | None) -> None:
    level = shown.result.spec.analysis.level
    show_table(groups_table(found, level, group), "How far two raters differ, by group")
    st.caption(distance_words(level))
