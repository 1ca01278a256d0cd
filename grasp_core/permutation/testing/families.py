"""Tests: columns of values in families; each family is corrected together."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from grasp_core.model.annotations import BoolArray, FloatArray
from grasp_core.model.spec import Correction
from grasp_core.permutation.testing.p_values import Known, Maximum, Null, Tail, Tails


@dataclass(frozen=True, slots=True)
class Family:
    """Tests that are corrected together; in columns of `upper`, only large values count."""

    columns: tuple[int, ...]
    tail: Tail
    correction: Correction
    upper: tuple[int, ...] = ()

    def tail_of(self, column: int) -> Tail:
        """Return the tail of a column's p-value."""
        return "upper" if column in self.upper else self.tail


@dataclass(frozen=True, slots=True, eq=False)
class Tests:
    """The tests of a panel.

    `families`: a column in none of them is not tested.
    `needs`, shape (C, U): units, such as groups, whose permutations a column needs; they may stop one by one.
    `largest`: columns that are the largest of others; the test uses the largest studentised value of these.
    `regroupings`, shape (U,), optional: if small p come from a curve through the tail, the logarithm of the
        number of regroupings of each unit; no p is below the inverse of that number.
    `known`: symmetries of all C columns.
    """

    families: tuple[Family, ...]
    needs: BoolArray
    largest: Mapping[int, Maximum] = field(default_factory=dict)
    regroupings: FloatArray | None = None
    known: Known = field(default_factory=Known)

    def maximum(self, family: Family) -> Maximum:
        """Return the maximum with which max-T compares a family's tests."""
        return Maximum(family.columns, upper=family.upper, known=self.known.of(family.columns))

    def without(self, columns: Collection[int]) -> Tests:
        """Return the tests without some columns, which are left out of their families."""
        families = []
        for family in self.families:
            left = tuple(c for c in family.columns if c not in columns)
            if left:
                families.append(
                    dataclasses.replace(
                        family, columns=left, upper=tuple(c for c in family.upper if c in left)
                    )
                )
        return dataclasses.replace(self, families=tuple(families))

    @property
    def maxima(self) -> list[Maximum]:
        """Maxima whose largest deviations are counted."""
        found = [self.maximum(family) for family in self.families if family.correction == "max-t"]
        return [*found, *self.largest.values()]

    def tails(self, null: Null, column: int) -> Tails:
        """Return the tails from which a column's p-value is computed.

        For a column that is the largest of others, `high` counts the permutations whose largest studentised
        value reaches the observed one (Westfall and Young 1993). Each value is standardised by the mean and
        standard deviation of its own null distribution, so that the widest of them does not hide the others.
        """
        found = null.tails(column)
        if column not in self.largest:
            return found
        reached, _ = null.reached(self.largest[column])
        return dataclasses.replace(found, high=int(reached.min()))

    @property
    def largest_family(self) -> int:
        """Number of tests in the largest family, without families of large values alone, which are small."""
        return max((len(family.columns) for family in self.families if family.tail != "upper"), default=0)
