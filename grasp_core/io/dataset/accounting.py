"""The summary of a data set, with its account: what was read, what counts, why the rest was left out."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

import numpy as np

from grasp_core.account import Account, Unit, added_up
from grasp_core.annotations import Codes
from grasp_core.data_spec import DataSpec
from grasp_core.io.dataset.contents import Contents
from grasp_core.io.dataset.votes import id_columns
from grasp_core.io.table.joined import parts_of
from grasp_core.recode_steps import Combine
from grasp_core.result import DataSummary, FileFingerprint


def unused(columns: Sequence[str], spec: DataSpec, axes: Collection[str]) -> tuple[str, ...]:
    """Columns of the annotations file that are neither used nor an axis."""
    used = {*axes, *id_columns(spec), *spec.labels, *(name for name, _ in spec.exclude)}
    used |= {part for name in id_columns(spec) for part in parts_of(name, columns)}
    used |= {name for name, _ in spec.filters.drop}
    used |= {name for name in (spec.text, spec.order, spec.filters.time, spec.filters.gold) if name}
    for step in spec.recode:
        used |= set(step.columns) if isinstance(step, Combine) else set()
    if spec.layout == "long":
        return tuple(name for name in columns if name not in used)
    described = spec.profile if spec.layout == "raters-by-items" else ()
    return tuple(name for name in columns if name in described and name not in used)


def summary(
    contents: Contents,
    spec: DataSpec,
    categories: Sequence[Sequence[str]],
    files: Sequence[FileFingerprint],
    unused_columns: tuple[str, ...],
) -> DataSummary:
    """Sizes and identity of the data; labels bear their question's name where there are several."""
    named = [
        (f"{label}: {category}" if len(categories) > 1 else category, answers.labels.get(category, 0))
        for label, answers, of_question in zip(
            [question.label for question in spec.questions], contents.answers, categories, strict=True
        )
        for category in of_question
    ]
    unit: Unit = "cell" if spec.layout != "long" else "answer" if spec.further else "row"
    used = sum(int(answers.left.sum()) for answers in contents.answers)
    sizes = np.flatnonzero(contents.per_item)
    joined = "\n".join(file.sha256 for file in files)
    return DataSummary(
        items=int(contents.per_item.sum()),
        raters=int((contents.counted > 0).sum()),
        annotations=int(contents.counted.sum()),
        categories=tuple(name for name, _ in named),
        label_counts=tuple(count for _, count in named),
        raters_per_item=(int(sizes[0]), _median(contents.per_item), int(sizes[-1])),
        sha256=files[0].sha256 if len(files) == 1 else hashlib.sha256(joined.encode("ascii")).hexdigest(),
        files=tuple(files),
        account=Account(unit, contents.read, used, added_up(contents.left_out), unused_columns),
    )


def _median(per_item: Codes) -> float:
    """Median of whole numbers that are counted by size."""
    reached = np.cumsum(per_item)
    total = int(reached[-1])
    middle = [(total - 1) // 2, total // 2]
    return float(np.mean(np.searchsorted(reached, middle, side="right")))
