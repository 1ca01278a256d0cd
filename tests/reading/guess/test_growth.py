"""Guessing and loading do twice as much for twice as many columns, whatever these are called and hold."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from contextlib import suppress

import pytest

from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.table.parsed import name_columns
from grasp_core.reading.table.table import Table
from tests.reading.making import rows_table

FEW, TIMES = 60, 4
NAMES = {
    "nothing": "attribute_{}",
    "items": "item_{}",
    "raters": "rater_{}",
    "ages": "age_{}",
    "labels": "label_{}",
    "shorter and longer": "q{}_label q{}",
    "ids of both kinds": "item_{} rater_{}",
    "yes or no": "is_excluded_{}",
    "sets": "dataset_{}",
    "one name": "x",
}


def wide(names: str, columns: int) -> Table:
    """Annotations beside further columns, each of which varies within items and raters."""
    rng, forms = random.Random(0), names.split()
    header = ["item", "rater", "label", *(forms[n % len(forms)].format(n) for n in range(columns))]
    rows = [
        [f"i{n % 20}", f"r{n // 20}", rng.choice("yn"), *(rng.choice("abc") for _ in range(columns))]
        for n in range(80)
    ]
    return rows_table([header, *rows])


def calls(work: Callable[[], object]) -> int:
    """How many functions are called, which no other work on the machine changes."""
    made = 0

    def count(_frame: object, event: str, _what: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return made


def handled(table: Table) -> None:
    spec = recognise(table).spec
    with suppress(DataError):
        load(table, None, spec)


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_work_grows_with_the_columns_and_no_faster(names):
    handled(wide(names, 5))  # what is made once
    few, many = (wide(names, columns) for columns in (FEW, FEW * TIMES))
    assert calls(lambda: handled(many)) < 1.2 * TIMES * calls(lambda: handled(few))


def test_names_that_recur_are_numbered_without_counting_from_the_start():
    few, many = (calls(lambda n=n: name_columns(["x"] * n, "votes.csv")) for n in (FEW, FEW * TIMES))
    assert many < 1.2 * TIMES * few
