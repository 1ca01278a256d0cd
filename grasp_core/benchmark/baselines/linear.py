"""The logistic regression that some baselines put on their features."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

C = 10.0
"""Inverse strength of the regularisation: features have length 1, so scikit-learn's 1 would be strong."""


def logistic(features: Any, labels: Sequence[str]) -> LogisticRegression:
    """A fitted classifier, each class of the same weight whatever its number of rows.

    Parameters
    ----------
    features : array or sparse matrix, shape (n, width)
        Rows of length 1.
    labels : sequence of str, length n
        Of two classes at least.
    """
    from sklearn.linear_model import LogisticRegression  # of an extra

    model = LogisticRegression(C=C, class_weight="balanced", max_iter=1000)
    with warnings.catch_warnings():  # few rows a class is what few-shot means
        warnings.filterwarnings("ignore", "The number of unique classes is greater than 50%")
        return model.fit(features, labels)
