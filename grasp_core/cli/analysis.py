"""Options that say which groups are formed and how they are tested; shared by the commands that permute."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping
from typing import Any, get_args

from grasp_core import spec
from grasp_core.cli.data.options import names
from grasp_core.cli.data.reading import Reading
from grasp_core.cli.terminal import note
from grasp_core.engine.cost import LONG_SECONDS
from grasp_core.groups import AxisSet, Grouping
from grasp_core.io.dataset.load import Dataset
from grasp_core.permutation.exchange import check_strata
from grasp_core.permutation.testing.attainable import Shuffles
from grasp_core.report.printable import printable
from grasp_core.report.shuffles import few_regroupings, staying
from grasp_core.spec import (
    ADAPTIVE_PERMUTATIONS,
    DEFAULT_PERMUTATIONS,
    WORKLOAD,
    AnalysisSpec,
    RunSpec,
)


class AtMost(int):
    """Permutations of an adaptive run."""


def add_groups_and_test(group: argparse._ArgumentGroup) -> None:
    """Add the options of :func:`analysis_fields` that every such command has."""
    group.add_argument("--axis", action="append", metavar="COLUMN")
    group.add_argument("--intersect", action="append", metavar="COLUMN:COLUMN[:...]")
    group.add_argument(
        "--permutations",
        type=_permutations,
        metavar="B|auto[:MOST]",
        help=f"a number, or auto: until all marks are settled, at most {ADAPTIVE_PERMUTATIONS:,} or MOST "
        f"(default: {DEFAULT_PERMUTATIONS:,}; of large data at most so many, until all marks are settled)",
    )
    group.add_argument("--seed", type=int)
    group.add_argument("--min-raters", type=int, metavar="N", help="smallest group shown")
    add_shuffles(group)
    for name, literal in (
        ("p-value", spec.PValue),
        ("ties", spec.Ties),
        ("correction", spec.Correction),
        ("family", spec.Family),
    ):
        group.add_argument(f"--{name}", choices=get_args(literal))


def add_shuffles(group: argparse._ArgumentGroup) -> None:
    """Add the options that say how profiles move."""
    group.add_argument(
        "--within",
        type=names,
        metavar="COLUMN,...",
        help="shuffle profiles only among raters with the same values here; "
        f"{WORKLOAD} stands for bins of raters by number of annotations",
    )
    group.add_argument(
        "--cluster", metavar="COLUMN", help="move the profiles of whole teams, batches or vendors together"
    )


def say_shuffles(dataset: Dataset, grouping: Grouping, analysis: AnalysisSpec) -> None:
    """Say before the run of which groups no p can be small, and who keeps their profile."""
    shuffles = Shuffles.of(dataset.raters, grouping, analysis)
    for sentence in (*few_regroupings(grouping, shuffles), *staying(shuffles)):
        note(printable(sentence))


def stopping_early(run_spec: RunSpec, seconds: float) -> RunSpec:
    """What is run where nobody has said how many permutations: where all take long, it stops early."""
    if seconds <= LONG_SECONDS:
        return run_spec
    most = f"{run_spec.analysis.permutations:,}"
    note(
        f"{most} permutations of such data take about {seconds:.0f} s on two cores, so at most {most} are "
        f"taken, until all marks are settled; --permutations {run_spec.analysis.permutations} takes all"
    )
    return dataclasses.replace(run_spec, analysis=dataclasses.replace(run_spec.analysis, adaptive=True))


def named_axes(given: Mapping[str, Any]) -> tuple[AxisSet, ...]:
    """Axes and intersections that the options name."""
    return (
        *((name,) for name in given.get("axis", ())),
        *(tuple(names.split(":")) for names in given.get("intersect", ())),
    )


def analysis_fields(given: Mapping[str, Any], found: Reading) -> dict[str, Any]:
    """Fields of an :class:`AnalysisSpec`; without axes those of a known data set, or the ones proposed."""
    known_fields = {field.name for field in dataclasses.fields(AnalysisSpec)}
    known = found.recipe.axes if found.recipe is not None else ()
    axes = named_axes(given) or known or tuple((name,) for name in found.axes)
    fields = {name: value for name, value in given.items() if name in known_fields}
    fields.update({name: tuple(given.get(name, ())) for name in ("slices", "given")})
    fields["strata"] = given.get("within", ())
    for table in (found.annotations, found.raters):
        check_strata(fields["strata"], () if table is None else table.columns)
    if isinstance(given.get("permutations"), AtMost):
        fields.update(permutations=int(given["permutations"]), adaptive=True)
    return {**fields, "axes": axes}


def _permutations(text: str) -> int:
    auto, colon, most = text.partition(":")
    try:
        if auto == "auto":
            return AtMost(most if colon else ADAPTIVE_PERMUTATIONS)
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be a whole number, auto, or auto:MOST such as auto:1000000; found {text!r}"
        ) from None
