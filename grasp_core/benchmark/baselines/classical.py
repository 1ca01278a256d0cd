"""Baselines as functions, and classical ones: plurality, TF-IDF with logistic regression, AdaBoost."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.sparse import csc_array

from grasp_core.benchmark.tasks import Task, TaskRows
from grasp_core.model.annotations import Int32Array
from grasp_core.model.errors import DataError

Texts: TypeAlias = Sequence[Mapping[str, str]]
"""Texts by field, a mapping per row, as in :class:`~grasp_core.benchmark.tasks.TaskRows`."""


Predict: TypeAlias = Callable[[Texts], list[str]]
"""A fitted baseline: it gives each row a class, whatever the other rows are."""
Baseline: TypeAlias = Callable[[TaskRows, Task, int], Predict]
"""A function that learns from labelled rows of a task, with a seed."""


def joined(texts: Texts, task: Task) -> list[str]:
    """Return the fields of each row as one text, joined by a full stop and a space."""
    return [". ".join(text[field] for field in task.fields) for text in texts]


def known_labels(train: TaskRows) -> tuple[str, ...]:
    """Return the labels of the rows that a baseline learns from; refuse rows without labels."""
    if not train.labels:
        raise DataError(f"{train.table.name} has no labelled row; a baseline learns from at least one")
    return train.labels


def fit_plurality(train: TaskRows, task: Task, seed: int) -> Predict:
    """Give every row the most frequent label; of equally frequent ones, the first in the task's order."""
    return always_plurality(known_labels(train), task)


def always_plurality(labels: Sequence[str], task: Task) -> Predict:
    """Return a baseline of the most frequent class, for data with only one class or without words."""
    counts = Counter(labels)
    label = max(task.classes, key=lambda name: counts[name])

    def predict(texts: Texts) -> list[str]:
        return [label] * len(texts)

    return predict


if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

C = 10.0
"""Inverse strength of the regularisation: for features of length 1, scikit-learn's 1 would be strong."""


def logistic(features: Any, labels: Sequence[str]) -> LogisticRegression:
    """Fit a classifier, on rows (n, width) of length 1, in which each class has the same weight."""
    from sklearn.linear_model import LogisticRegression  # of an optional package

    model = LogisticRegression(C=C, class_weight="balanced", max_iter=1000)
    with warnings.catch_warnings():  # few rows per class are normal in few-shot tasks
        warnings.filterwarnings("ignore", "The number of unique classes is greater than 50%")
        return model.fit(features, labels)


WORDS = r"(?u)\b\w+\b"
"""Pattern of words, including words of one letter: some texts have no others."""


def fit_tfidf(train: TaskRows, task: Task, seed: int) -> Predict:
    """Fit a logistic regression on TF-IDF of words and pairs of words."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # of an optional package

    labels = known_labels(train)
    texts = joined(train.texts, task)
    if len(set(labels)) == 1 or not any(any(c.isalnum() for c in text) for text in texts):
        return always_plurality(labels, task)
    vectorizer = TfidfVectorizer(strip_accents="unicode", ngram_range=(1, 2), token_pattern=WORDS)
    model = logistic(vectorizer.fit_transform(texts), labels)

    def predict(texts: Texts) -> list[str]:
        return list(map(str, model.predict(vectorizer.transform(joined(texts, task))))) if texts else []

    return predict


NGRAMS = (1, 5)


@dataclass(frozen=True, slots=True)
class Boosting:
    """Settings of AdaBoost: most trees, the depth of each; by default those of the published figures."""

    trees: int = 100
    depth: int = 3
    learning_rate: float = 1.0


PUBLISHED = Boosting()
Staged = Callable[[Texts, Sequence[int]], list[list[str]]]
"""Function from texts and numbers of trees to a list of labels for each number, by so many first trees."""


def fit_adaboost(train: TaskRows, task: Task, seed: int, setting: Boosting = PUBLISHED) -> Predict:
    """Fit discrete AdaBoost (SAMME), by default with 100 trees of depth 3 at learning rate 1.

    The published figures used SAMME.R, which scikit-learn dropped in version 1.6. Counts are of words of two
    or more letters, lower-cased and without accents, of all fields joined by ``". "``. If n-grams split all
    labelled rows alike, only the shortest is used: it is the likeliest to occur in other texts, and trees
    grow three times as fast. The seed decides between equally good splits.
    """
    staged = fit_staged(train, task, seed, setting)
    return lambda texts: staged(texts, [setting.trees])[0]


def fit_staged(train: TaskRows, task: Task, seed: int, setting: Boosting) -> Staged:
    """Fit :func:`fit_adaboost`, and give labels by fewer of its trees too: the first trees are the same."""
    from sklearn.ensemble import AdaBoostClassifier  # of an optional package, as all of scikit-learn
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.tree import DecisionTreeClassifier

    labels = known_labels(train)
    vectorizer = CountVectorizer(strip_accents="unicode", lowercase=True, ngram_range=NGRAMS)
    plurality = always_plurality(labels, task)
    try:
        counts = csc_array(vectorizer.fit_transform(joined(train.texts, task)))
    except ValueError:  # scikit-learn found no words
        counts = None
    if counts is None or len(set(labels)) == 1:
        return lambda texts, trees: [plurality(texts) for _ in trees]
    asked = distinct_columns(counts, [name.count(" ") for name in vectorizer.get_feature_names_out()])
    model = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=setting.depth),
        n_estimators=setting.trees,
        learning_rate=setting.learning_rate,
        random_state=seed,
    )
    with warnings.catch_warnings():  # few rows per class are normal in few-shot tasks
        warnings.filterwarnings("ignore", "The number of unique classes is greater than 50%")
        model.fit(counts[:, asked], labels)

    def predict(texts: Texts, trees: Sequence[int]) -> list[list[str]]:
        if not texts:
            return [[] for _ in trees]
        features = vectorizer.transform(joined(texts, task))[:, asked]
        if list(trees) == [setting.trees]:
            return [list(map(str, model.predict(features)))]
        stages = [list(map(str, stage)) for stage in model.staged_predict(features)]
        return [stages[min(number, len(stages)) - 1] for number in trees]

    return predict


def distinct_columns(counts: Any, lengths: Sequence[int]) -> Int32Array:
    """Return columns, of counts (n, F), that differ; of equal ones, the first of the shortest n-grams."""
    found: dict[bytes, int] = {}
    for column in np.argsort(lengths, kind="stable"):
        part = slice(counts.indptr[column], counts.indptr[column + 1])
        found.setdefault(counts.indices[part].tobytes() + counts.data[part].tobytes(), column)
    return np.array(list(found.values()), dtype=np.intp)
