"""Raters who gave one label always."""

from __future__ import annotations

import numpy as np

from grasp_core.annotations import Annotations, BoolArray

FEWEST_ANNOTATIONS = 10
"""With fewer annotations one same label means little."""


def find_constant(annotations: Annotations) -> tuple[BoolArray, BoolArray]:
    """Who is constant, and who has enough annotations to tell; bool arrays, shape (J,)."""
    n_raters, top = annotations.n_raters, annotations.n_categories - 1
    lowest, highest = np.full(n_raters, top), np.zeros(n_raters, dtype=np.int64)
    np.minimum.at(lowest, annotations.rater, annotations.category)
    np.maximum.at(highest, annotations.rater, annotations.category)
    enough = np.bincount(annotations.rater, minlength=n_raters) >= FEWEST_ANNOTATIONS
    return enough & (lowest == highest), enough
