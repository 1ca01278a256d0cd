"""AdaBoost on counts of word 1-5-grams, the paper's non-neural baseline."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_array
from sklearn.feature_extraction.text import CountVectorizer

from grasp_core.annotations import FloatArray
from grasp_core.raft.baselines.plurality import always_plurality
from grasp_core.raft.baselines.protocol import Predict, Texts, joined, known_labels
from grasp_core.raft.baselines.trees import Codes, Node, Splits, columns_of, find_splits, follow, grow
from grasp_core.raft.tasks import Rows, Task

ESTIMATORS, DEPTH, NGRAMS = 100, 3, (1, 5)


def fit_adaboost(train: Rows, task: Task, seed: int) -> Predict:
    """Discrete AdaBoost (SAMME) of trees of depth 3, 100 of them, learning rate 1; the seed decides nothing.

    Notes
    -----
    The published figures used SAMME.R, which scikit-learn dropped in version 1.6. Counts are of words of two
    or more letters, lower-cased and without accents, of all fields joined by ``". "``. Of n-grams that part
    the labelled rows alike, the shortest is asked about, for it is the likeliest to occur in other texts.
    """
    labels = known_labels(train)
    classes = [name for name in task.classes if name in set(labels)]
    vectorizer = CountVectorizer(strip_accents="unicode", lowercase=True, ngram_range=NGRAMS)
    try:
        counts = vectorizer.fit_transform(joined(train.texts, task))
    except ValueError:  # no words at all, says scikit-learn
        return always_plurality(labels, task)
    lengths = [name.count(" ") for name in vectorizer.get_feature_names_out()]
    shortest_first = np.argsort(lengths, kind="stable")
    gold = np.array([classes.index(label) for label in labels])
    trees = boost(find_splits(counts[:, shortest_first]), gold, len(classes))

    def predict(texts: Texts) -> list[str]:
        if not texts:
            return []
        counts = vectorizer.transform(joined(texts, task))[:, shortest_first]
        found = vote(trees, counts, len(classes))
        return [classes[code] for code in found]

    return predict


def boost(splits: Splits, gold: Codes, classes: int) -> list[tuple[float, Node]]:
    """Trees with their weights.

    References
    ----------
    Zhu, Zou, Rosset and Hastie (2009). Multi-class AdaBoost. Statistics and Its Interface 2, algorithm 2.
    """
    weights = np.full(gold.size, 1 / gold.size)
    trees: list[tuple[float, Node]] = []
    for _ in range(ESTIMATORS):
        by_class = np.zeros((classes, gold.size))
        by_class[gold, np.arange(gold.size)] = weights
        tree = grow(splits, by_class, DEPTH)
        wrong = follow(tree, splits.counts) != gold
        error = float(weights[wrong].sum() / weights.sum())
        if error <= 0:
            return [*trees, (1.0, tree)]
        if error >= 1 - 1 / classes:
            return trees or [(1.0, tree)]
        alpha = float(np.log((1 - error) / error) + np.log(classes - 1))
        trees.append((alpha, tree))
        weights = np.maximum(weights * np.exp(alpha * wrong), np.finfo(np.float64).tiny)
        weights /= weights.sum()
    return trees


def vote(trees: list[tuple[float, Node]], counts: Any, classes: int) -> Codes:
    """Class of most votes for each row of counts, a tree's votes being its weight; of equal, the first."""
    columns = sorted(set().union(*(columns_of(tree) for _, tree in trees)))
    place = {column: position for position, column in enumerate(columns)}
    asked = csc_array(counts)[:, columns].toarray()
    votes: FloatArray = np.zeros((len(asked), classes))
    for weight, tree in trees:
        votes[np.arange(len(votes)), follow(tree, asked, place)] += weight
    winners: Codes = np.argmax(votes, axis=1)
    return winners
