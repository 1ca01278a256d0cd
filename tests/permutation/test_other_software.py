"""Other software computes the same values on the same data; `make bench` measures both side by side."""

from __future__ import annotations

import dataclasses

from benchmarks import peers
from grasp_core.model.groups import form_groups
from grasp_core.permutation.design import build_design
from grasp_core.reading.dataset.load import load
from grasp_core.reading.example import AXES, example_files, example_spec
from grasp_core.reading.sandbox.read import read_table


def test_values_are_those_of_other_software() -> None:
    """It ends with a sentence where they are not."""
    spec = example_spec()
    data = load(*(read_table(content, name) for name, content in example_files().items()), spec.data, AXES)
    axes = spec.analysis.axes
    analysis = dataclasses.replace(spec.analysis, ties="first")
    design = build_design(data.annotations, data.raters, form_groups(data.raters, axes), analysis)
    found = peers.compare(data.annotations, data.raters, axes, design, 1)
    assert [figure.what for figure in found][:2] == [
        "IRR by NumPy, all groups at once",
        "IRR by scipy.stats.permutation_test",
    ]
