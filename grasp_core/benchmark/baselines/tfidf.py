"""TF-IDF of words and logistic regression."""

from __future__ import annotations

from grasp_core.benchmark.baselines.linear import logistic
from grasp_core.benchmark.baselines.plurality import always_plurality
from grasp_core.benchmark.baselines.protocol import Predict, Texts, joined, known_labels
from grasp_core.benchmark.tasks import Rows, Task

WORDS = r"(?u)\b\w+\b"
"""Words of one letter too: texts that consist of nothing else still have words."""


def fit_tfidf(train: Rows, task: Task, seed: int) -> Predict:
    """Logistic regression on TF-IDF of words and pairs of words."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # of an extra

    labels = known_labels(train)
    texts = joined(train.texts, task)
    if len(set(labels)) == 1 or not any(any(c.isalnum() for c in text) for text in texts):
        return always_plurality(labels, task)
    vectorizer = TfidfVectorizer(strip_accents="unicode", ngram_range=(1, 2), token_pattern=WORDS)
    model = logistic(vectorizer.fit_transform(texts), labels)

    def predict(texts: Texts) -> list[str]:
        return list(map(str, model.predict(vectorizer.transform(joined(texts, task))))) if texts else []

    return predict
