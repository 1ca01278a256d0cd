"""What a run with the chosen settings would compare."""

from __future__ import annotations

import streamlit as st

from grasp_core.groups import form_groups
from grasp_core.io.load import Dataset
from grasp_core.permutation.corrections import fewest_permutations, largest_family
from grasp_core.spec import AnalysisSpec


def say_what_is_compared(dataset: Dataset, analysis: AnalysisSpec) -> bool:
    """Count the groups and warn of settings that cannot find anything; False if nothing is left."""
    everyone = form_groups(dataset.raters, analysis.axes)
    kept = int((everyone.n_raters >= analysis.min_raters).sum())
    left_out = len(everyone.groups) - kept
    if not kept:
        st.error("No group is large enough. Lower the smallest group, or choose other axes.")
        return False
    smaller = f" {_count(left_out, 'group')} with fewer raters will not be shown." if left_out else ""
    st.markdown(f"**{_count(kept, 'group')}** will be compared.{smaller}")
    shown = form_groups(dataset.raters, analysis.axes, min_raters=analysis.min_raters)
    enough = fewest_permutations(largest_family(shown.groups, analysis), analysis)
    if analysis.permutations < enough:
        st.warning(
            f"With {analysis.permutations:,} permutations and {_count(kept, 'group')}, a lone effect "
            f"can never survive correction. Use at least {enough:,} permutations."
        )
    return True


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
