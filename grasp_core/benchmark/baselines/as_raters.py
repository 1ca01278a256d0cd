"""A baseline as a model: labels for the items of a data set from their texts."""

from collections.abc import Sequence
from dataclasses import dataclass

from grasp_core.analysis.models.labels import ID, LABEL
from grasp_core.benchmark.baselines.registry import make_baseline
from grasp_core.benchmark.tasks import Task, TaskRows
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.model.text import csv_text, quoted
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table

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
