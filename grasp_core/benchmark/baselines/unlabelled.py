"""A baseline that learns from the texts of rows without labels too, as the benchmark permits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grasp_core.benchmark.baselines.classical import always_plurality
from grasp_core.benchmark.baselines.protocol import Fit, Predict, Texts, known_labels
from grasp_core.benchmark.language_models.prompt import shown
from grasp_core.benchmark.tasks import TEST_FILE, Rows, Task
from grasp_core.model.errors import DataError

if TYPE_CHECKING:
    from grasp_core.benchmark.baselines.embedding import Embedder

MOST = 2_000
"""Rows without labels that are learnt from: the kernel has a cell for each pair."""
GAMMA, CLAMP = 10.0, 0.2
"""Width of the kernel, exp(-GAMMA * squared distance), and scikit-learn's own share that may be relearnt."""


def spreading(embed: Embedder, unlabelled: Texts) -> Fit:
    """Labels spread from the labelled rows over all others, the more the more similar the embeddings are.

    Parameters
    ----------
    unlabelled : sequence of mapping
        Texts by field. Of more than :data:`MOST`, some are drawn at random.

    Raises
    ------
    DataError
        If there are none.

    References
    ----------
    Zhou, Bousquet, Lal, Weston and Schölkopf, *Learning with Local and Global Consistency*, NeurIPS 2004.
    """
    if not unlabelled:
        raise DataError(f"it learns from unlabelled rows too; give the task a {TEST_FILE} with some")

    def fit(train: Rows, task: Task, seed: int) -> Predict:
        from sklearn.semi_supervised import LabelSpreading  # of an extra

        labels = known_labels(train)
        if len(set(labels)) == 1:
            return always_plurality(labels, task)
        number = {name: code for code, name in enumerate(task.classes)}
        texts = [shown(task, text) for text in (*train.texts, *_some(unlabelled, seed))]
        given = np.full(len(texts), -1)
        given[: len(labels)] = [number[label] for label in labels]
        model = LabelSpreading(kernel="rbf", gamma=GAMMA, alpha=CLAMP, max_iter=1000)
        model.fit(embed(texts).astype(np.float64), given)

        def predict(texts: Texts) -> list[str]:
            if not texts:
                return []
            features = embed([shown(task, text) for text in texts]).astype(np.float64)
            return [task.classes[code] for code in model.predict(features)]

        return predict

    return fit


def _some(unlabelled: Texts, seed: int) -> Texts:
    if len(unlabelled) <= MOST:
        return unlabelled
    rng = np.random.Generator(np.random.Philox(seed))
    return [unlabelled[row] for row in np.sort(rng.choice(len(unlabelled), MOST, replace=False))]
