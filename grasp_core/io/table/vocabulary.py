"""Values that a column's type names, whether or not any cell has them, and whether they stand in an order."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the type of a column says of its values.

    Parameters
    ----------
    column : str
    values : tuple of str
        All of them, as texts; in their order where they have one.
    ordered : bool
    """

    column: str
    values: tuple[str, ...]
    ordered: bool
