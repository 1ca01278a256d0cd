"""The statistics of a group: one table, from which columns, tests, intervals and reports take their order."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

Scale = Literal["logit", "log"]


class Statistic(NamedTuple):
    """A statistic of a group; its definition is in :mod:`grasp_core.statistics`.

    `unit`: of its value; "share" is of 1.
    `side`: whose labels it takes: the group's, both sides', or those of the statistics it is `made` of.
    `low`, `high`, `scale`: its least and largest value, and the scale of its interval where it is above 0.
    `no_effect`: its value where nothing sets the group apart, where that is one number.
    `upper`: whether only large values are tested.
    `symmetric`: whether it is the same seen from either half of an axis of two values.
    `told`: its place among all that is told of a group; label use is at 0.
    `optional`: whether only those runs compute it that ask for it: kernels may lack it.
    """

    unit: str
    side: Literal["inside", "across", "made"]
    told: int
    low: float = -float("inf")
    high: float = float("inf")
    scale: Scale | None = None
    no_effect: float | None = None
    upper: bool = False
    symmetric: bool = False
    optional: bool = False


TABLE: Mapping[str, Statistic] = MappingProxyType(
    {
        "irr": Statistic("coefficient", "inside", 4, -1, 1, "logit"),
        "xrr": Statistic("coefficient", "across", 5, -1, 1, "logit", symmetric=True),
        "negentropy": Statistic("nats", "inside", 7, low=0),
        "cross_negentropy": Statistic("nats", "across", 8),
        "plurality_size": Statistic("share", "inside", 9, 0, 1),
        "voting_agreement": Statistic("coefficient", "across", 6, -1, 1, symmetric=True),
        "gai": Statistic("ratio", "made", 2, low=0, no_effect=1),
        "gap": Statistic("coefficient", "made", 3, -2, 2, no_effect=0),
        "distance": Statistic(
            "disagreement", "made", 1, scale="log", no_effect=0, upper=True, symmetric=True
        ),
        "ac1": Statistic("coefficient", "inside", 10, -1, 1, optional=True),
    }
)
"""By name: in the column order of the paper's Table 5, then those that it has not, optional ones last."""
