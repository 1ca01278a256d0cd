"""Columns that could hold batches, named by every function and command that warns of other items."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import grasp_core as grasp
from grasp_core import cli
from tests.batches import in_batches

SAID = "columns that could hold batches: 'batch'; strata=['batch'] shuffles within the values of one"
FEW = {"axes": ["gender"], "permutations": 100, "progress": False}


def _gold(votes: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"ID": votes["item_id"].unique(), "Label": "yes"})


@pytest.mark.parametrize("beside", [True, False], ids=["raters file", "annotations alone"])
def test_every_function_names_them(beside: bool) -> None:
    votes, raters = in_batches()
    given = (votes, raters) if beside else (votes.merge(raters, on="rater_id"), None)
    assert SAID in grasp.analyse(*given, **FEW, pairs=False).notes
    assert SAID in grasp.models(*given, **FEW, labels={"gold": _gold(votes)}).notes
    assert SAID in grasp.quality(*given, axes=["gender"], progress=False).notes


def test_within_them_nothing_is_said() -> None:
    found = grasp.analyse(*in_batches(), **FEW, pairs=False, strata=["batch"])
    assert not [note for note in found.notes if "batches" in note]


def test_the_command_for_models_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    votes, raters = in_batches()
    for name, frame in (("votes", votes), ("raters", raters), ("gold", _gold(votes))):
        frame.to_csv(f"{name}.csv", index=False)
    files = ["--annotations", "votes.csv", "--raters", "raters.csv", "--model", "gold=gold.csv"]
    assert cli.main(["models", *files, "--axis", "gender", "--permutations", "100"]) == 0
    assert "could hold batches: 'batch'; --within batch shuffles" in capsys.readouterr().err
