"""Options that say which groups are formed and how they are tested; shared by the commands that permute."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping
from typing import Any, get_args

from grasp_core.cli.data.options import names
from grasp_core.engine.request.analysis import proposed_axes, with_axes
from grasp_core.engine.request.reading import Reading
from grasp_core.model import spec
from grasp_core.model.groups import AxisSet
from grasp_core.model.spec import ADAPTIVE_PERMUTATIONS, DEFAULT_PERMUTATIONS, WORKLOAD, AnalysisSpec


class AtMost(int):
    """Permutations of an adaptive run."""


def add_groups_and_test(group: argparse._ArgumentGroup) -> None:
    """Add the options of :func:`analysis_fields` that every such command has."""
    add_axes(group)
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


def add_axes(group: argparse._ArgumentGroup) -> None:
    """Add the options of :func:`named_axes`."""
    group.add_argument(
        "--axis",
        action="append",
        metavar="COLUMN",
        help="compare groups by this column; repeat for several (default: those that are recognised)",
    )
    group.add_argument(
        "--intersect",
        action="append",
        metavar="COLUMN:COLUMN[:...]",
        help="and by these columns together, beside the axes; repeat for several",
    )


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


def named_axes(given: Mapping[str, Any], found: Reading) -> tuple[AxisSet, ...]:
    """Axes and intersections that the options name; intersections alone are beside the recognised axes."""
    crossed = tuple(tuple(names.split(":")) for names in given.get("intersect", ()))
    singles: tuple[AxisSet, ...] = tuple((name,) for name in given.get("axis", ()))
    if crossed and not singles:
        singles = tuple(axes for axes in proposed_axes(found) if axes not in crossed)
    return (*singles, *crossed)


def analysis_fields(given: Mapping[str, Any], found: Reading) -> dict[str, Any]:
    """Fields of an :class:`AnalysisSpec` that the options give, and its axes."""
    return with_axes(found, test_fields(given), named_axes(given, found))


def test_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of an :class:`AnalysisSpec` that the options give, without axes."""
    known_fields = {field.name for field in dataclasses.fields(AnalysisSpec)}
    fields = {name: value for name, value in given.items() if name in known_fields}
    fields.update({name: tuple(given.get(name, ())) for name in ("slices", "given")})
    fields["strata"] = given.get("within", ())
    if isinstance(given.get("permutations"), AtMost):
        fields.update(permutations=int(given["permutations"]), adaptive=True)
    return fields


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
