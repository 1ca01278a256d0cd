"""Labels of known formats that are none are asked about."""

from __future__ import annotations

import csv
import io
import json

import pytest

from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table

HEADER = ["HITId", "AssignmentId", "WorkerId", "Input.text", "Answer.spans"]


def batch(answer, header=HEADER, more=()) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(header)
    for n in range(30):
        writer.writerow([f"H{n // 3}", f"A{n}", f"W{n % 3}", f"a text {n // 3}", answer(n), *more])
    return file.getvalue().encode()


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (lambda n: json.dumps([{"start": n, "end": n + 2}]), "objects in JSON"),
        (lambda n: f"I have read this text {n} times and never understood what it is about", "free answers"),
    ],
)
def test_what_is_no_label_is_asked(answer, what) -> None:
    guess = recognise(read_table(batch(answer), "batch.csv"))
    assert [reason.field for reason in guess.uncertain] == ["label"]
    assert what in guess.uncertain[0].sentence


def test_answers_that_recur_are_labels() -> None:
    assert not recognise(read_table(batch(lambda n: "yn"[n % 2]), "batch.csv")).uncertain


def test_codes_for_no_answer_in_known_formats_too() -> None:
    guess = recognise(read_table(batch(lambda n: [1, 2, 3, 4, -99][n % 5]), "batch.csv"))
    assert (guess.spec.missing, guess.advised.missing) == (("",), ("", "-99"))
