"""The baselines by name."""

from collections.abc import Callable, Mapping
from functools import partial

from grasp_core.benchmark.baselines import embedding
from grasp_core.benchmark.baselines.classical import Baseline, Texts, fit_adaboost, fit_plurality, fit_tfidf
from grasp_core.benchmark.baselines.embedding import MODULES, Embedder, spreading
from grasp_core.model.errors import SpecError
from grasp_core.model.extras import has, require
from grasp_core.model.text import quoted

LM = "lm"
"""Name of the in-context language model; its callers make it, because they know which model to use."""

SPREADING = "minilm-spreading"
"""The baseline that learns from unlabelled rows too."""

BASELINES: Mapping[str, str] = {
    "plurality": "The most frequent label of the labelled rows",
    "adaboost": "AdaBoost on counts of word 1-5-grams",
    "tfidf": "Logistic regression on TF-IDF of words",
    "minilm-1nn": "The most similar labelled row, by MiniLM embeddings",
    "minilm-logistic": "Logistic regression on MiniLM embeddings",
    SPREADING: "Labels spread over labelled and unlabelled rows alike, by MiniLM embeddings",
    "minilm-names": "The most similar class name, by MiniLM embeddings",
    "minilm-shots-names": "The most similar labelled row or class name, by MiniLM embeddings",
    LM: "A language model that sees instructions and examples",
}
"""Description of each baseline, by its name."""

_PLAIN: Mapping[str, Baseline] = {"plurality": fit_plurality, "adaboost": fit_adaboost, "tfidf": fit_tfidf}
_EMBEDDING: Mapping[str, Callable[[Embedder], Baseline]] = {
    "minilm-1nn": partial(embedding.nearest, rows=True, names=False),
    "minilm-logistic": embedding.logistic_head,
    "minilm-names": partial(embedding.nearest, rows=False, names=True),
    "minilm-shots-names": partial(embedding.nearest, rows=True, names=True),
}
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "adaboost": ("sklearn",),
    "tfidf": ("sklearn",),
    **dict.fromkeys(_EMBEDDING, MODULES),
    "minilm-logistic": (*MODULES, "sklearn"),
    SPREADING: (*MODULES, "sklearn"),
}
"""Modules of optional packages that a baseline imports."""


def installed(name: str) -> bool:
    """Return whether all packages that a baseline needs are installed."""
    return has(*_NEEDED.get(name, ()))


def check_installed(name: str) -> None:
    """Refuse, before any work, a baseline whose packages are missing."""
    if name in _NEEDED:
        require(name, "models", *_NEEDED[name])


def make_baseline(name: str, embedder: Embedder | None = None, unlabelled: Texts = ()) -> Baseline:
    """Make a baseline for one run; `unlabelled`: texts that :data:`SPREADING` learns from."""
    check_installed(name)
    if name == SPREADING:
        return spreading(embedder or Embedder(), unlabelled)
    if name in _PLAIN:
        return _PLAIN[name]
    if name in _EMBEDDING:
        return _EMBEDDING[name](embedder or Embedder())
    if name == LM:
        raise SpecError("the language model baseline needs a model: name an endpoint or a file")
    raise SpecError(f"there is no baseline {quoted(name)}; there are {', '.join(BASELINES)}")
