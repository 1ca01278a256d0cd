"""Rows that mark spans are no labels of items, also where equal ones would count once."""

from __future__ import annotations

import pytest

from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.table.table import Table
from tests.reading.making import rows_table


def marked(columns: tuple[str, str], each: int = 2, step: int = 4) -> Table:
    """Spans of eight documents by four annotators, as many for each; all of a pair are of one kind."""
    rows = [
        [f"d{d}", f"a{a}", str(10 * k + a), str(10 * k + a + step), ("toxic", "insult")[(d * a + d) % 3 % 2]]
        for d in range(8)
        for a in range(1, 5)
        for k in range(each)
    ]
    return rows_table([["doc_id", "annotator", *columns, "label"], *rows])


@pytest.mark.parametrize(
    "columns", [("start", "end"), ("begin_char", "end_char"), ("startOffset", "endOffset")]
)
def test_spans_are_asked_about(columns: tuple[str, str]) -> None:
    why = (
        f"no column looks like labels: '{columns[0]}' and '{columns[1]}' mark spans, several of one rater "
        "in one item, on which no agreement is computed"
    )
    assert [(one.field, one.sentence) for one in recognise(marked(columns)).uncertain] == [("label", why)]
    assert not recognise(marked(columns), named=Named(label="label")).uncertain


@pytest.mark.parametrize(
    "table",
    [
        marked(("start", "end"), each=1),
        marked(("start", "end"), step=-1),
        marked(("start_time", "end_time")),
        marked(("left", "right")),
    ],
)
def test_other_numbers_are_none(table: Table) -> None:
    assert not recognise(table).uncertain
