"""The map as immutable values, its file form, and the map that people without an account may see."""

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
"""Name under which a run's map is stored with the run."""


@dataclass(frozen=True, slots=True)
class MapGroup:
    """A group on the map: mean difference between two of its raters, and between one and a rater outside.

    Means are over pairs that share enough answers; None if there is no such pair.
    """

    group: Group
    n_raters: int
    within: float | None
    between: float | None


@dataclass(frozen=True, slots=True)
class MapAxis:
    """An axis or intersection tested on the map.

    `explained` is the share of the squared distances between raters that its groups explain, `by_chance`
    the mean share of random groupings. Both are over the raters in `groups`; the map shows `others` more
    raters, of smaller groups or unknown values. Without `explained`, `reason` says why.
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
    """A map of raters, without anything that identifies them.

    `points`: sorted by place. A rater's last values are left out until `min_raters` points show the same; a
        rater for whom that is not possible has no point.
    `n_raters`, `n_drawn`, `n_placed`: number of raters in the data; of those drawn at random, if there are
        too many; and of those placed.
    `n_reduced`: number of points that show less than is known of their rater.
    `variance`: shares of the distances' variance along both directions.
    `pairs`, `neutral`: number of pairs of placed raters, and of pairs that share too few answers.
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

in_file(MapGroup, with_group, group_of)


def of_answer(plain: Any) -> RaterMap | None:
    """Read the map from a stored answer's JSON-ready form; None without one, or of another version."""
    try:
        return None if plain is None else from_json(plain, RaterMap)
    except FormError:  # it is made again
        return None


def rater_map_dict(found: RaterMap, spec: RunSpec, sha256: str) -> dict[str, Any]:
    """Return the map's file form: the spec, the hash of the data, and the map."""
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "code_version": __version__,
        "data": sha256,
        "spec": spec.to_dict(),
        "map": to_json(found),
    }


def map_without_small_groups(found: RaterMap | None, result: Result) -> RaterMap | None:
    """Return the map if nobody on it is in a small group, and the shown result lost none; else None.

    Points can be counted by the values that they show together: each must share all with enough others.
    """
    if found is None or some_hidden(result):
        return None
    sizes = [row.n_raters for axis in found.axes for row in axis.groups]
    alike = Counter(point.values for point in found.points).values()
    whole = found.n_reduced == 0 and len(found.points) == found.n_placed
    return found if whole and min((*sizes, *alike), default=LEAST) >= LEAST else None
