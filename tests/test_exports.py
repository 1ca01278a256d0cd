"""How a file is held against what was sent; the tools themselves are run by `make exports`."""

import pytest

from exports.answers import Ledger, made_up, texts, votes
from tests.reading.making import csv_bytes


def test_files_that_agree_and_that_do_not(capsys: pytest.CaptureFixture[str]) -> None:
    sent = made_up(seed=1)
    rows = [[f"i{one.item}", one.rater, one.label, texts()[one.item]] for one in sent]
    header = ["item", "rater", "label", "text"]
    ledger = Ledger()
    ledger.hold("whole", csv_bytes([header, *rows]), "whole.csv", votes(sent))
    ledger.hold("cut", csv_bytes([header, *rows[1:]]), "cut.csv", votes(sent))
    ledger.hold("empty", b"", "empty.csv", votes(sent))
    assert (ledger.files, ledger.agreed) == (3, 1)
    whole, cut, empty = capsys.readouterr().out.splitlines()
    assert whole == f"ok      whole: {len(sent)} annotations of 12 items by 6 raters, as sent"
    assert cut.startswith(f"WRONG   cut: {len(sent) - 1} annotations")
    assert empty.startswith("WRONG   empty: refused: empty.csv is empty")


def test_the_same_seed_gives_the_same_answers() -> None:
    assert made_up(seed=3) == made_up(seed=3) != made_up(seed=4)
