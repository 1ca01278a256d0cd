"""One verdict of all tests of a group, or of two groups, together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from grasp_core.model.groups import Group
from grasp_core.model.json_values import ADDED

VerdictCode = Literal["clear", "hint", "explained", "none", "untestable"]
Kind = Literal["labels", "items", "cohesion", "spread"]
Untestable = Literal[
    "nothing-moves", "few-raters", "other-items", "other-workload", "few-permutations", "not-estimable"
]
FEWEST_CLEAR = 3000
"""With fewer permutations nothing is clear: p would be too coarse for a correction over many groups."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How far raters of a group differ from each other, beside the others.

    `ratio` is that of the variances of raters' mean residuals, inside and outside; of an axis of two groups
    that of each is 1 by the other's. `p` is two-sided.
    """

    ratio: float
    p: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a group answers differently: one p of its tests together, corrected over all groups.

    `code` is "clear" where q and its Monte-Carlo bound are below the level, "hint" where only p is,
    "explained" where it would be clear, and nothing is left without the raters of the clear group `by`,
    "none", and "untestable", for which `why` is the reason. `kinds` are the ways in which it differs, as far
    as one can be named: in how often it gives labels, in the items to which it does, in how far its raters
    agree with each other, and in how far they spread. `p` is that of all tests together and `q` the same
    after correction, of which `bound` is the upper end of its 95 % Monte-Carlo interval; `strength`, how far
    the tests lie from their mean in standard deviations, orders groups of equal p. An axis of two groups is
    one question: then `other` is the other one, with the same verdict. `spread` is tested by itself of groups
    that differ or of which there is a hint.
    """

    code: VerdictCode
    kinds: tuple[Kind, ...] = ()
    p: float | None = None
    q: float | None = None
    bound: float | None = None
    strength: float | None = None
    by: Group | None = None
    other: Group | None = None
    why: Untestable | None = None
    spread: Spread | None = field(default=None, metadata=ADDED)
