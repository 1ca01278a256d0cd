"""Other names for labels and raters change no number, from Python and from the command line."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import grasp_core as grasp
from tests.notebook.asking import command

QUIET: dict[str, Any] = {"progress": False, "permutations": 400, "pairs": False}
LABELS = {"No": "zeta", "Yes": "alpha", "Unsure": "Mid"}
RATERS = {f"r{j}": f"p{7 * j % 12:02d}" for j in range(12)}


def votes() -> pd.DataFrame:
    """With many ties of pluralities, and a label that hardly anybody gives."""
    rng = random.Random(4)
    rows = [
        (f"i{i}", f"r{j}", rng.choice(["No", "Yes", "Unsure"] if j % 4 else ["No", "Yes"]), "AB"[j % 2])
        for i in range(20)
        for j in range(12)
        if rng.random() < 0.5
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "label", "team"])


def numbers(result: Mapping[str, Any], names: Mapping[str, str]) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Values, and p-values, by group and by statistic or label under its new name."""
    values, p = {}, {}
    for group in result["groups"]:
        who = tuple(group["group"].values())
        for name, one in group["statistics"].items():
            values[who, name], p[who, name] = one["value"], one["p"]
        for label, one in group["label_use"]["labels"].items():
            values[who, names.get(label, label)], p[who, names.get(label, label)] = one["value"], one["p"]
    return values, p


@pytest.mark.parametrize("renamed", ["label", "rater"])
def test_other_names_change_no_number(tmp_path: Path, renamed: str) -> None:
    frame = votes()
    other = frame.assign(**{renamed: frame[renamed].map(LABELS if renamed == "label" else RATERS)})
    names = LABELS if renamed == "label" else {}
    first = numbers(grasp.analyse(frame, axes=["team"], **QUIET).result.to_dict(), names)
    second = numbers(grasp.analyse(other, axes=["team"], **QUIET).result.to_dict(), {})
    options = ("--axis", "team", "--permutations", "400", "--no-pairs")
    third = numbers(command(tmp_path, "run", other, other[["rater", "team"]].drop_duplicates(), *options), {})
    for found in (second, third):
        assert found[0] == pytest.approx(first[0], abs=1e-12, nan_ok=True)
        for key, p in first[1].items():
            if p is not None and found[1][key] is not None:
                assert abs(p - found[1][key]) < 0.12  # as under another seed: four standard errors
