"""What a run says to be careful about, apart from what is odd in its data.

These sentences hold numbers only, never a text from the data, so they may be shown to anybody.
"""

from __future__ import annotations

import re

SMALL_GROUPS = (
    "{} of {} groups have fewer than {} raters and are not shown; their raters still count among the others"
)
TOO_FEW_FOR_CORRECTION = (
    "with {} permutations a lone effect among {} tests can never survive correction; use at least {}"
)
TOO_FEW_FOR_P = "with fewer than 100 permutations there are no p-values"
SOME_NOT_ESTIMABLE = "in {} of {} permutations some statistic was not estimable; those values are left out"
PAPER_P = (
    "p-values follow the paper, which picks the tail from the data: at 0.05 about 10 % of groups without "
    "any effect are marked"
)
PAPER_CROSS_NEGENTROPY = (
    "cross-negentropy follows the paper: items on which a group used a label that nobody else used count "
    "as full agreement"
)
_NUMBER = r"\d[\d,]*"
_ALL = (
    SMALL_GROUPS,
    TOO_FEW_FOR_CORRECTION,
    TOO_FEW_FOR_P,
    SOME_NOT_ESTIMABLE,
    PAPER_P,
    PAPER_CROSS_NEGENTROPY,
)
_PATTERN = re.compile("|".join(re.escape(sentence).replace(r"\{\}", _NUMBER) for sentence in _ALL), re.ASCII)


def is_caution(warning: str) -> bool:
    """Whether a run's warning is one of these."""
    return _PATTERN.fullmatch(warning) is not None
