"""The baselines by name, and a baseline as a model: labels for a data set's items from their texts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from grasp_core.analysis.models.labels import ID, LABEL
from grasp_core.benchmark.baselines import embedding
from grasp_core.benchmark.baselines.classical import Baseline, Texts, fit_adaboost, fit_plurality, fit_tfidf
from grasp_core.benchmark.baselines.embedding import MODULES, Embedder, spreading
from grasp_core.benchmark.tasks import Task, TaskRows
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.extras import has, require
from grasp_core.model.text import csv_text, quoted
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table

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


WITHOUT_EXAMPLES = ("minilm-names",)
"""Baselines that need no labelled rows, only the labels' names."""
_FIELD = "text"


@dataclass(frozen=True, slots=True, eq=False)
class ItemTexts:
    """Texts for a baseline of :data:`WITHOUT_EXAMPLES` to label, with their file and column."""

    baseline: str
    categories: tuple[str, ...]
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    source: str

    @property
    def name(self) -> str:
        """File name of the labels."""
        return f"{self.source}, by {self.baseline}"


def item_texts(table: Table, spec: DataSpec, categories: Sequence[str], baseline: str) -> ItemTexts:
    """Return the items' texts, from the column that `spec.text` names."""
    if spec.text is None or spec.text not in table.columns or spec.item not in table.columns:
        raise DataError(
            f"{table.name}: a baseline reads the items' texts; name their column, beside that of the items"
        )
    item, text = table.column(str(spec.item)), table.column(spec.text)
    first: dict[int, str] = {}
    for code, words in zip(item.codes.tolist(), text.codes.tolist(), strict=True):
        if text.values[words] not in spec.missing:
            first.setdefault(code, text.values[words])
    if not first:
        raise DataError(f"{table.name}, column {quoted(spec.text)}: there is no text to read")
    ids = tuple(item.values[code] for code in first)
    source = f"{table.name}, column {spec.text}"
    return ItemTexts(baseline, tuple(categories), ids, tuple(first.values()), source)


def label_items(job: ItemTexts) -> bytes:
    """Return the baseline's labels as a CSV file with the columns ID and Label."""
    task = Task("items", job.categories, (_FIELD,), (_FIELD,))
    texts = tuple({_FIELD: text} for text in job.texts)
    unlabelled = read_table(b"ID,text\n0,none\n", job.baseline)
    rows = TaskRows(job.ids, texts, None, unlabelled)
    labels = make_baseline(job.baseline)(rows, task, 1)(texts)
    return csv_text((ID, LABEL), zip(job.ids, labels, strict=True)).encode()
