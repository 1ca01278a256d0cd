"""The definitions of docs/methods.md, one small function each, in plain NumPy.

The compiled kernel in :mod:`grasp_core.permutation` computes the same numbers faster and is tested
against these functions. Letters: I items, J raters, K categories, G groups; ``c[i, k]`` is the number
of group members who gave item i category k, ``d[i, k]`` the same for the complement.

:mod:`grasp_core.statistics.functions` offers the statistics for users' arrays of labels or counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grasp_core.statistics.functions import (
        cohen_kappa,
        cross_negentropy,
        distance,
        fleiss_kappa,
        gai,
        gap,
        gwet_ac1,
        krippendorff_alpha,
        label_shares,
        negentropy,
        percent_agreement,
        plurality_size,
        voting_agreement,
        xrr,
    )

__all__ = [
    "cohen_kappa",
    "cross_negentropy",
    "distance",
    "fleiss_kappa",
    "gai",
    "gap",
    "gwet_ac1",
    "krippendorff_alpha",
    "label_shares",
    "negentropy",
    "percent_agreement",
    "plurality_size",
    "voting_agreement",
    "xrr",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from grasp_core.statistics import functions  # loads NumPy

    return getattr(functions, name)


def __dir__() -> list[str]:
    return list(__all__)
