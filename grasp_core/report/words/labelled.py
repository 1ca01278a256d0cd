"""The labels and how many there are: said before anything that is computed from them."""

from __future__ import annotations

from grasp_core.data_spec import DataSpec
from grasp_core.result import DataSummary
from grasp_core.wording import listed, number, quoted

_LABELS = 12
"""Of more labels, those given least often are only counted."""


def labelled_sentence(spec: DataSpec, data: DataSummary) -> str:
    """For example "label 'toxic': 97 annotations of 20 items by 6 raters (No: 46 · Unsure: 30 · Yes: 21)"."""
    return f"{counted_sentence(spec, data)} ({_given(data)})"


def counted_sentence(spec: DataSpec, data: DataSummary) -> str:
    """The same without the labels' own counts."""
    counts = (
        f"{number(data.annotations, 'annotation')} of {number(data.items, 'item')} by "
        f"{number(data.raters, 'rater')}"
    )
    return f"{_what(spec, data)}: {counts}"


def _what(spec: DataSpec, data: DataSummary) -> str:
    """The labels' column, or where they are in a matrix."""
    if spec.layout == "long":
        return f"label {quoted(spec.labels[0])}" if not spec.further else f"labels {listed(spec.labels)}"
    columns = data.raters if spec.layout == "items-by-raters" else data.items
    return f"labels in the cells of {number(columns, 'column')}"


def _given(data: DataSummary) -> str:
    counts = dict(zip(data.categories, data.label_counts, strict=False))
    often = set(sorted(counts, key=lambda label: -counts[label])[:_LABELS])
    shown = [f"{_short(label)}: {count:,}" for label, count in counts.items() if label in often]
    more = len(counts) - len(shown)
    return " · ".join(shown) + (f" and {number(more, 'more label')}" if more else "")


def _short(label: str) -> str:
    return quoted(label)[1:-1]
