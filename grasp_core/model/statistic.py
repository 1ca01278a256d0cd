"""The statistics of a group: one table, whose order columns, tests, intervals and reports follow."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

Scale = Literal["logit", "log"]


class Statistic(NamedTuple):
    """A statistic of a group; its definition is in :mod:`grasp_core.statistics`.

    `unit`: unit of its value; "share" is a part of 1.
    `side`: labels it needs: the group's, both sides', or those of other statistics that it is `made` of.
    `low`, `high`, `scale`: least and largest value, and the scale of the interval of a value above 0.
    `no_effect`: value of a group that does not differ from the others, if that is one number.
    `upper`: true if only large values are tested.
    `symmetric`: true if both groups of an axis of two values have the same value.
    `report_position`: position among a group's statistics in reports; label use is at 0.
    `optional`: true if only runs that ask for it compute it; kernels may lack it.
    """

    unit: str
    side: Literal["inside", "across", "made"]
    report_position: int
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
"""Statistics by name: the paper's in the column order of its Table 5, then the others, optional ones last."""
