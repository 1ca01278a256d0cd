"""Tests: columns of values, in families that are corrected together."""

from __future__ import annotations

from dataclasses import dataclass

from grasp_core.annotations import BoolArray
from grasp_core.permutation.nulls.tails import Tail
from grasp_core.spec import Correction


@dataclass(frozen=True, slots=True)
class Family:
    """Tests that are corrected together.

    Parameters
    ----------
    columns : tuple of int
    tail : {"two-sided", "paper", "upper"}
    correction : {"benjamini-hochberg", "benjamini-yekutieli", "max-t"}
    """

    columns: tuple[int, ...]
    tail: Tail
    correction: Correction


@dataclass(frozen=True, slots=True, eq=False)
class Tests:
    """The tests of a panel.

    Parameters
    ----------
    families : tuple of Family
        A column in none of them is not tested.
    needs : bool array, shape (C, U)
        Units, such as groups, whose permutations a column needs; they may stop one by one.
    """

    families: tuple[Family, ...]
    needs: BoolArray

    @property
    def max_t(self) -> list[tuple[int, ...]]:
        """Columns of the families that max-T corrects."""
        return [family.columns for family in self.families if family.correction == "max-t"]

    @property
    def most_together(self) -> int:
        """Tests of the largest family; those of large values alone, of which there are few, left aside."""
        return max((len(family.columns) for family in self.families if family.tail != "upper"), default=0)
