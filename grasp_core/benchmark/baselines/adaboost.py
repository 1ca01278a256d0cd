"""AdaBoost on counts of word 1-5-grams, the paper's non-neural baseline."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from grasp_core.annotations import Int32Array
from grasp_core.benchmark.baselines.plurality import always_plurality
from grasp_core.benchmark.baselines.protocol import Predict, Texts, joined, known_labels
from grasp_core.benchmark.tasks import Rows, Task

ESTIMATORS, DEPTH, NGRAMS = 100, 3, (1, 5)


def fit_adaboost(train: Rows, task: Task, seed: int) -> Predict:
    """Discrete AdaBoost (SAMME) of trees of depth 3, 100 of them, learning rate 1.

    Notes
    -----
    The published figures used SAMME.R, which scikit-learn dropped in version 1.6. Counts are of words of two
    or more letters, lower-cased and without accents, of all fields joined by ``". "``. Of n-grams that part
    the labelled rows alike, only the shortest is asked about: it is the likeliest to occur in other texts,
    and trees grow three times as fast. Which of equally good splits is taken depends on the seed.
    """
    from sklearn.ensemble import AdaBoostClassifier  # of an extra, as all of scikit-learn
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.tree import DecisionTreeClassifier

    labels = known_labels(train)
    vectorizer = CountVectorizer(strip_accents="unicode", lowercase=True, ngram_range=NGRAMS)
    try:
        counts = csc_array(vectorizer.fit_transform(joined(train.texts, task)))
    except ValueError:  # no words at all, says scikit-learn
        return always_plurality(labels, task)
    asked = distinct_columns(counts, [name.count(" ") for name in vectorizer.get_feature_names_out()])
    model = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=DEPTH), n_estimators=ESTIMATORS, random_state=seed
    )
    with warnings.catch_warnings():  # few rows a class is what few-shot means
        warnings.filterwarnings("ignore", "The number of unique classes is greater than 50%")
        model.fit(counts[:, asked], labels)

    def predict(texts: Texts) -> list[str]:
        if not texts:
            return []
        return list(map(str, model.predict(vectorizer.transform(joined(texts, task))[:, asked])))

    return predict


def distinct_columns(counts: Any, lengths: Sequence[int]) -> Int32Array:
    """Columns of which no two are equal in all rows; of equal ones the first of the shortest n-grams.

    Parameters
    ----------
    counts : sparse column array, shape (n, F)
    lengths : sequence of int, length F

    Returns
    -------
    int array, shape (at most F,)
    """
    found: dict[bytes, int] = {}
    for column in np.argsort(lengths, kind="stable"):
        part = slice(counts.indptr[column], counts.indptr[column + 1])
        found.setdefault(counts.indices[part].tobytes() + counts.data[part].tobytes(), column)
    return np.array(list(found.values()), dtype=np.intp)
