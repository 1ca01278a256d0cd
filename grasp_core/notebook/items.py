"""``items``: which items carry what one group says differently."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grasp_core.analysis.items.outcomes import Contribution, ItemOutcome, ItemsResult, Measure, texts_of_items
from grasp_core.analysis.items.panel import ItemsAsked, look_at_items
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.run import checked_groups
from grasp_core.model.errors import SpecError
from grasp_core.model.text import json_text
from grasp_core.model.wording import listed
from grasp_core.notebook._of_run import data_of, other_data
from grasp_core.notebook._progress import Bar
from grasp_core.notebook._saving import save
from grasp_core.notebook._shown import Brief, page, shown_table
from grasp_core.notebook.analysis import on
from grasp_core.notebook.options import group_of, worded
from grasp_core.notebook.results import Analysis
from grasp_core.report.items import MEASURES, in_order, items_csv, items_table, sentences
from grasp_core.report.tables import or_nan
from grasp_core.report.writers.items import items_markdown, items_xlsx

if TYPE_CHECKING:  # takes long to load
    import pandas as pd

_SHOWN = 10
"""Items that a notebook's cell shows."""


@dataclass(frozen=True, slots=True, repr=False)
class GroupItems(Brief):
    """Which items carry a group's distance and label use.

    Parameters
    ----------
    result : ItemsResult
        Everything as immutable values, as files hold it.
    texts : mapping from item to text, or None
        The items' texts, where a column was named as text.
    notes : tuple of str
        What is good to know of the data.
    """

    result: ItemsResult
    texts: Mapping[str, str] | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)

    def answer(self) -> str:
        """For distance and label use: the whole, the items that hold, and what to do, a line each."""
        return "\n".join(
            f"- {name}: {sentence.plain}"
            for measure, name in MEASURES.items()
            for sentence in sentences(self.result, measure)
        )

    def table(self, measure: Measure = "label_use") -> pd.DataFrame:
        """The items that have a part of a measure, largest first.

        Parameters
        ----------
        measure : {"label_use", "distance"}

        Returns
        -------
        DataFrame
            `item`, `text` where a column was named as text, of label use `label`, `part` (of label use a
            share), `p`, `q`, `significance`; then how often each label was given, as `group: LABEL` and
            `others: LABEL`.
        """
        import pandas as pd

        return pd.DataFrame([self._row(*one) for one in in_order(self.result, measure, "part")])

    def _row(self, row: ItemOutcome, part: Contribution) -> dict[str, object]:
        counts = {
            f"{side}: {label}": of.get(label, 0)
            for label in self.result.label_use
            for side, of in (("group", row.inside), ("others", row.outside))
        }
        return {
            "item": row.item,
            **({} if self.texts is None else {"text": self.texts.get(row.item, "")}),
            **({} if part.label is None else {"label": part.label}),
            "part": part.value,
            "p": or_nan(part.p),
            "q": or_nan(part.q),
            "significance": part.significance,
            **counts,
        }

    def save(self, path: str | Path) -> None:
        """Write ``.json``, ``.csv``, ``.xlsx`` or ``.md``.

        Raises
        ------
        DataError
            If it cannot be written, or its ending is none of these.
        """
        kinds: Mapping[str, Callable[[ItemsResult], bytes]] = {
            ".json": lambda found: json_text(found.to_dict()).encode(),
            ".csv": lambda found: items_csv(found).encode(),
            ".xlsx": lambda found: items_xlsx(found, self.texts),
            ".md": lambda found: items_markdown(found).encode(),
        }
        save(path, kinds, self.result)

    def _repr_html_(self) -> str:
        said = [one for measure in MEASURES for one in sentences(self.result, measure)]
        rows = in_order(self.result, "label_use", "part")[:_SHOWN]
        table = shown_table(items_table(self.result, "label_use", rows, self.texts))
        warnings = tuple(map(str, self.result.warnings))
        return page(None, said, table, {"Warnings": warnings, "Notes": self.notes})


@worded()
def items(
    annotations: Any,
    raters: Any = None,
    *,
    result: Analysis,
    group: Mapping[str, str],
    items: Any = None,
    question: str | None = None,
    progress: bool = True,
) -> GroupItems:
    """Find which items carry what one group of a result says differently.

    Parameters
    ----------
    annotations, raters, items : data frame, Table, str or Path
        The data of the result, as :func:`analyse` took them.
    result : Analysis
        Whose group it is; the data are read, and permutations drawn, as it has them.
    group : mapping from axis to value
        Such as ``{"race": "Black", "gender": "Woman"}``.
    question : str, optional
        Of several labels, the one that is looked at.
    progress : bool
        Whether a bar shows how far it is.

    Returns
    -------
    GroupItems

    Raises
    ------
    DataError, SpecError
        If the data cannot be read so, or the result has no such group or label.
    """
    data, found = data_of(result, annotations, raters, items)
    named = group_of(group, dict.fromkeys(checked_groups(data, result.spec).groups))
    asked = ItemsAsked(result.spec, named, result.result.permutations, _place(question, result))
    pool, bar = Pool(workers.threads), Bar("items", shown=progress)
    looked = on(pool, bar, lambda: look_at_items(data, asked, pool.each, bar.share))
    return GroupItems(looked, texts_of_items(found.annotations, result.spec.data), other_data(result, data))


def _place(question: str | None, result: Analysis) -> int:
    labels = [str(one.label) for one in result.spec.data.questions]
    if question is None and len(labels) == 1:
        return 0
    if question not in labels:
        raise SpecError(f"question= is one of {listed(labels)}")
    return labels.index(question)
