"""How profiles move in random groupings: within strata, and by clusters."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from grasp_core.report.words.names import axis_label
from grasp_core.spec import WORKLOAD, AnalysisSpec
from pages._ui.widgets.choices import choose_one


def choose_shuffles(
    names: Sequence[str], start: AnalysisSpec, key: str
) -> tuple[tuple[str, ...], str | None]:
    """The strata, and the column of clusters; `names` are the data's axes, `key` belongs to the place."""
    columns = [name for name in names if name != WORKLOAD]
    options = [*columns, *(() if WORKLOAD in names else (WORKLOAD,))]
    strata: list[str] = st.multiselect(
        "Shuffle profiles only within",
        options,
        default=[name for name in start.strata if name in options],
        format_func=_stratum,
        key=f"{key}-strata",
        persist_state="session",
        placeholder="Over all raters",
        help="Profiles then move only among raters who share a value on each of these. Use it where raters "
        "who differ there were given other items, or answer otherwise for reasons that are not the question.",
    )
    free = [name for name in columns if name not in strata and WORKLOAD not in strata]
    cluster = choose_one(
        "Move whole clusters",
        free,
        start.cluster,
        key=f"{key}-cluster",
        placeholder="Every rater alone" if free else "Not with these strata",
        more="A column of teams, batches or vendors, whose raters answer alike. Their profiles then move "
        "together.",
        named=lambda name: axis_label((name,)),
    )
    return tuple(strata), cluster


def _stratum(name: str) -> str:
    return "Workload (bins by number of annotations)" if name == WORKLOAD else axis_label((name,))
