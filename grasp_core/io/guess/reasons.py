"""Reasons of guesses, how sure they are, and what else may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Confidence = Literal["sure", "likely", "unsure"]


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason of a guess.

    Parameters
    ----------
    field : str
        Field of :class:`~grasp_core.data_spec.DataSpec`, or "axes", or "aggregated": labels without raters.
    sentence : str
    confidence : {"sure", "likely", "unsure"}
        What is unsure is for a person to choose: nothing is computed from it.
    candidates : tuple of str
        Columns (or layouts) that it may be, best first, where it is unsure; empty where none is in sight.
        Of axes, the column of numbers that its bands would make one.
    """

    field: str
    sentence: str
    confidence: Confidence = "likely"
    candidates: tuple[str, ...] = ()
