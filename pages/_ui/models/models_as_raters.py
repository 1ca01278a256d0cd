"""A model as one more rater: whose judgements it reproduces, on the data of this visit."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from itertools import combinations

import streamlit as st

from grasp_core.engine.cost import LONG_SECONDS, models_seconds
from grasp_core.groups import AxisSet
from grasp_core.io.dataset.load import Dataset
from grasp_core.models_as_raters.labels import sources
from grasp_core.report.stopping import MEANING
from grasp_core.report.words.names import axis_label
from grasp_core.spec import AnalysisSpec, RunSpec
from pages._ui.analysis.comparison import say_what_is_compared
from pages._ui.data.questions import one_question_only
from pages._ui.models.given_models import given_models, take_baseline, take_column, take_files
from pages._ui.session.state import submit, work
from pages._ui.shell.links import go, link_to
from pages._ui.widgets.shuffles import choose_shuffles

_DECIDED = "models-stopping-decided"
"""Set once somebody has said how many permutations there are, or whether they stop early."""


def show_models_as_raters() -> None:
    """Models, groups, a button; what is asked is a run, with its page."""
    session = work()
    dataset, spec = session.dataset, session.data_spec
    if dataset is None or spec is None or session.annotations is None:
        st.info("Open the annotations that models are compared with first; then bring a model's labels here.")
        link_to("data", "Go to Data")
        return
    if not one_question_only(spec):
        return
    st.write(
        "Bring a model's label for each item of your data, and see with which groups of raters it sides, "
        "and whether that is real."
    )
    if not dataset.raters.axes:
        st.info("The data say nothing about their raters, so there are no groups; add a raters file on Data.")
        link_to("data", "Go to Data")
        return
    take_files()
    take_column(session.annotations, spec)
    take_baseline(session.annotations, dataset, spec)
    models = given_models(dataset, spec)
    analysis = _choose_analysis(dataset, len(models), tuple(session.proposed_axes))
    enough = analysis is not None and say_what_is_compared(dataset, analysis)
    pressed = st.button(
        "See whose judgements they reproduce",
        type="primary",
        icon=":material/balance:",
        disabled=not models or not enough,
    )
    if pressed:
        asked = RunSpec(spec, analysis, models=sources(models))
        run = submit(dataclasses.replace(dataset, models=tuple(models)), asked, session.load_s)
        go("results", run_id=run.id)


def _choose_analysis(dataset: Dataset, n_models: int, proposed: tuple[str, ...]) -> AnalysisSpec | None:
    """Groups and the permutation test; None where it cannot be computed so."""
    names = tuple(dataset.raters.axes)
    single = [(name,) for name in names]
    generation = work().generation
    settings = work().settings
    asked = () if settings is None else tuple(axes for axes in settings.axes if set(axes) <= set(names))
    options = dict.fromkeys([*asked, *single, *combinations(names, 2)])
    axes = st.multiselect(
        "Groups of",
        list(options),
        default=list(asked) or [(name,) for name in proposed if name in names] or single[:1],
        format_func=axis_label,
        key=f"models-axes-{generation}-{work().settings_generation}",
        persist_state="session",
        help="Each value is one group of raters; pairs of axes give groups such as one gender of one race.",
    )
    test = _choose_test(names, single[:1], functools.partial(models_seconds, dataset, n_models, axes))
    return dataclasses.replace(test, axes=tuple(axes)) if axes else None


def _choose_test(
    names: tuple[str, ...], axes: Sequence[AxisSet], seconds: Callable[[int], float]
) -> AnalysisSpec:
    """Smallest group and permutations, at first as analysed last; the groups are still to be chosen."""
    session = work()
    key = f"{session.generation}-{session.settings_generation}"
    start = session.settings or AnalysisSpec(tuple(axes))
    number = functools.partial(_whole, key=key)
    with st.expander("Smallest group and permutation test"):
        smallest = number("Smallest group shown", 1, 1000, start.min_raters)
        permutations = number(
            "Permutations", 100, 1_000_000, start.permutations, step=1000, on_change=_decide
        )
        adaptive = _choose_stopping(start, seconds(smallest), key)
        seed = number("Seed", 0, 2**53 - 1, start.seed)
        strata, cluster = choose_shuffles(names, start, f"models-{key}")
    return AnalysisSpec(
        tuple(axes),
        permutations=permutations,
        seed=seed,
        min_raters=smallest,
        strata=strata,
        cluster=cluster,
        adaptive=adaptive,
    )


def _choose_stopping(start: AnalysisSpec, seconds: float, key: str) -> bool:
    """Whether the number is the most there are: until somebody decides, where all would take long."""
    key = f"models-adaptive-{key}"
    if work().settings is None and _DECIDED not in st.session_state:
        st.session_state[key] = seconds > LONG_SECONDS
    return bool(
        st.toggle(
            "Stop when all marks are settled",
            start.adaptive,
            key=key,
            persist_state="session",
            on_change=_decide,
            help=f"{MEANING} The number above is then the most there are.",
        )
    )


def _decide() -> None:
    st.session_state[_DECIDED] = True


def _whole(
    label: str,
    least: int,
    most: int,
    value: int,
    step: int = 1,
    *,
    key: str,
    on_change: Callable[[], None] | None = None,
) -> int:
    """A whole number that is kept while another view is looked at."""
    value = min(max(value, least), most)
    key = f"models-{label}-{key}"
    chosen = st.number_input(
        label, least, most, value, step=step, key=key, persist_state="session", on_change=on_change
    )
    return int(chosen)
