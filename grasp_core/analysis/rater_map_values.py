"""The map as immutable values, and what strangers may see of it."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from grasp_core.analysis.small_groups import LEAST, some_hidden
from grasp_core.model.groups import AxisSet, Group
from grasp_core.model.json_values import FormError, from_json, in_file, to_json
from grasp_core.model.outcome import Significance
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import Result, group_of, with_group
from grasp_core.model.spec import RunSpec
from grasp_core.version import __version__

FORMAT = "grasp-rater-map"
FORMAT_VERSION = 1
ANSWER = "rater-map"
"""What a run's map is kept as, beside the run."""


@dataclass(frozen=True, slots=True)
class MapGroup:
    """A group on the map: how far two of its raters differ on the average, and one of it from one outside.

    Over pairs that share enough; None where there is no such pair.
    """

    group: Group
    n_raters: int
    within: float | None
    between: float | None


@dataclass(frozen=True, slots=True)
class MapAxis:
    """An axis or intersection held against the map.

    `explained` is the share of the squared distances between raters that its groups explain, `by_chance`
    what random groupings explain on the average. Both are of the raters in `groups`; `others` more are
    on the map, of smaller groups or unknown values. Without `explained`, `reason` says why.
    """

    axes: AxisSet
    groups: tuple[MapGroup, ...]
    others: int
    explained: float | None
    by_chance: float | None
    p: float | None
    q: float | None
    significance: Significance
    reason: Remark | None = None


@dataclass(frozen=True, slots=True)
class MapPoint:
    """A rater's place, and values by the map's columns; None where unknown or not shown."""

    x: float
    y: float
    values: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class RaterMap:
    """A map of raters, without anything that says who they are.

    `columns`: axes that are told of points.
    `points`: sorted by place. A rater's last values are left out until `min_raters` points tell the same; who
        even then is one of fewer has no point.
    `n_raters`, `n_drawn`, `n_placed`: raters of the data; of them those drawn at random, where there are too
        many; of these those placed.
    `n_reduced`: points that tell less than is known of their rater.
    `variance`: shares of the distances' variance along both directions.
    `pairs`, `neutral`: pairs of raters who are placed, and those of them that share too little to differ.
    `between`: how far two raters differ on the average.
    `least`: raters of the smallest group that is shown.
    `reason`: why there is no map; there are then no points.
    """

    columns: tuple[str, ...]
    axes: tuple[MapAxis, ...]
    points: tuple[MapPoint, ...]
    n_raters: int
    n_drawn: int
    n_placed: int
    n_reduced: int
    variance: tuple[float, float]
    pairs: int
    neutral: int
    between: float | None
    permutations: int
    least: int
    reason: Remark | None = None


NOTHING = RaterMap((), (), (), 0, 0, 0, 0, (0.0, 0.0), 0, 0, None, 0, 0)
"""A map without anybody on it."""

in_file(MapGroup, with_group, group_of)


def of_answer(plain: Any) -> RaterMap | None:
    """The map of a kept answer's JSON-ready form; None where there is none, or that of another version."""
    try:
        return None if plain is None else from_json(plain, RaterMap)
    except FormError:  # it is made again
        return None


def rater_map_dict(found: RaterMap, spec: RunSpec, sha256: str) -> dict[str, Any]:
    """The map's file form: what was asked, of which data, and the map."""
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "code_version": __version__,
        "data": sha256,
        "spec": spec.to_dict(),
        "map": to_json(found),
    }


def map_without_small_groups(found: RaterMap | None, result: Result) -> RaterMap | None:
    """The map where nobody on it is one of few, else None.

    `result`: as it is shown: without small groups.

    Points can be counted, by all the values that they tell together. So a map is shown only where the result
    lost no group and each point shares all that is known of its rater with enough others.
    """
    if found is None or some_hidden(result):
        return None
    sizes = [row.n_raters for axis in found.axes for row in axis.groups]
    alike = Counter(point.values for point in found.points).values()
    whole = found.n_reduced == 0 and len(found.points) == found.n_placed
    return found if whole and min((*sizes, *alike), default=LEAST) >= LEAST else None
