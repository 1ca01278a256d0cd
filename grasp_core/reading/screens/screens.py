"""All screens by name, and whom each would leave out."""

from collections.abc import Callable, Mapping

import numpy as np

from grasp_core.model.annotations import Annotations, BoolArray, Raters
from grasp_core.model.data_spec import Screen
from grasp_core.reading.screens.constant import too_constant
from grasp_core.reading.screens.duplicates import Duplicates, near_duplicates
from grasp_core.reading.screens.random_responders import random_responders


def screened(screen: Screen, annotations: Annotations, raters: Raters | None) -> BoolArray:
    """Raters whom a screen leaves out, shape (J,); of two near-duplicates one stays."""
    return _FOUND[screen](annotations, raters)


def one_of_each(found: Duplicates, annotations: Annotations) -> BoolArray:
    """One rater of each pair, shape (J,): who has fewer annotations, or else who comes later in the file.

    Pairs are gone through as they are listed; a pair of which somebody is left out already leaves out nobody
    else.
    """
    left_out = np.zeros(annotations.n_raters, dtype=np.bool_)
    per_rater = np.bincount(annotations.rater, minlength=annotations.n_raters)
    for pair in found.pairs:
        if not (left_out[pair.first] or left_out[pair.second]):
            fewer = min((pair.first, pair.second), key=lambda rater: (per_rater[rater], -rater))
            left_out[fewer] = True
    return left_out


_FOUND: Mapping[Screen, Callable[[Annotations, Raters | None], BoolArray]] = {
    "random": lambda annotations, _: random_responders(annotations).random,
    "constant": lambda annotations, raters: too_constant(annotations, raters).named,
    "duplicates": lambda annotations, _: one_of_each(near_duplicates(annotations), annotations),
}
