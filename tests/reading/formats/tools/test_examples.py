"""Small exports of the tools run from the command line without settings, each with its raters file."""

from __future__ import annotations

from pathlib import Path

import pytest

from grasp_core import cli

EXAMPLES = Path(__file__).parent / "examples"


@pytest.mark.parametrize(
    ("annotations", "raters", "axis"),
    [
        ("label_studio.json", "numbers.csv", "gender"),
        ("prodigy.jsonl", "sessions.csv", "gender"),
        ("doccano.jsonl", "numbers.csv", "gender"),
        ("argilla.json", "users.csv", "gender"),
        ("potato.jsonl", "raters.csv", "gender"),
        ("potato.csv", "raters.csv", "gender"),
        ("mturk.csv", "raters.csv", "gender"),
        ("ratings.csv", "prolific.csv", "Sex"),
        ("lewidi.json", "lewidi_annotators_meta.json", "Gender"),
        ("lewidi2.json", "lewidi_annotators_meta.json", "Gender"),
        ("zooniverse.csv", "raters.csv", "gender"),
    ],
)
def test_an_export_runs_as_it_is(
    annotations: str, raters: str, axis: str, capsys: pytest.CaptureFixture[str]
) -> None:
    named = ["--annotations", str(EXAMPLES / annotations), "--raters", str(EXAMPLES / raters)]
    assert cli.main(["run", *named, "--axis", axis, "--permutations", "200"]) == 0
    assert "4 raters" in capsys.readouterr().out
