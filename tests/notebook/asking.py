"""The example as frames, and the command's answers to the same questions."""

import io
import json
from pathlib import Path
from typing import Any

import pandas as pd

from grasp_core import cli
from grasp_core.model.example import example_files

CODES = ["--item", "item_id", "--rater", "rater_id", "--label", "label"]


def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    files = example_files()
    votes, raters = (pd.read_csv(io.BytesIO(files[name])) for name in ("annotations.csv", "raters.csv"))
    return votes, raters


def few() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every tenth item, for what takes its time."""
    votes, raters = frames()
    return votes[votes["item_id"].str.endswith("0")], raters


def few_files(folder: Path) -> None:
    """Those two as files."""
    for name, frame in zip(("votes.csv", "raters.csv"), few(), strict=True):
        frame.to_csv(folder / name, index=False)


def command(folder: Path, name: str, votes: pd.DataFrame, raters: pd.DataFrame, *options: str) -> Any:
    """What a command writes about the frames as CSV files."""
    votes.to_csv(folder / "annotations.csv", index=False)
    raters.to_csv(folder / "raters.csv", index=False)
    out = folder / "out.json"
    files = ("--annotations", str(folder / "annotations.csv"), "--raters", str(folder / "raters.csv"))
    assert cli.main([name, *files, *options, "--out", str(out)]) == 0
    return json.loads(out.read_text("utf-8"))


def found(plain: Any) -> Any:
    """A result without seconds and the files' own names and hashes."""
    plain = json.loads(json.dumps(plain))
    plain.pop("timing", None)
    for name in ("sha256", "files"):
        plain["data"].pop(name)
    return plain
