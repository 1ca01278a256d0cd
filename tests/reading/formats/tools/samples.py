"""What the tests of table, archive and rater readers share."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grasp_core import cli
from grasp_core.model.errors import DataError
from grasp_core.reading.sandbox.read import read_table
from tests.reading.formats.tools.exports import RATERS


def recognised_run(
    folder: Path,
    content: bytes,
    name: str,
    raters: Sequence[str] | bytes,
    axis: str = "gender",
    options: Sequence[str] = (),
) -> dict[str, Any]:
    """A run from the command line that names no column but the axis; the saved result."""
    (folder / name).write_bytes(content)
    described = raters if isinstance(raters, bytes) else RATERS.format(*raters).encode()
    (folder / "raters.csv").write_bytes(described)
    files = ["--annotations", str(folder / name), "--raters", str(folder / "raters.csv")]
    how = ["--axis", axis, "--permutations", "50", "--out", str(folder / "result.json")]
    assert cli.main(["run", *files, *how, *options]) == 0
    result: dict[str, Any] = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return result


def counted(result: Mapping[str, Any]) -> tuple[int, int, int]:
    """Items, raters and annotations of a run."""
    data = result["data"]
    return data["items"], data["raters"], data["annotations"]


def read_or_refused(content: bytes, name: str) -> None:
    """A damaged file gives a table or one sentence, never another error."""
    table, refusal = None, ""
    try:
        table = read_table(content, name)
    except DataError as error:
        refusal = str(error)
    if table is None:
        assert name in refusal
        assert "\n" not in refusal
        return
    assert len(table) > 0
    assert table.lines is None or len(table.lines) == len(table)
    if table.recipe is not None and table.recipe.spec is not None:
        spec = table.recipe.spec
        assert {spec.item, spec.rater, spec.label} <= set(table.columns)
