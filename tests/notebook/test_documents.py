"""docs/python.md and docs/notebook.ipynb run as they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from grasp_core.reading.example import example_files

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


def test_the_documents_code_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in example_files().items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "python.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert len(blocks) > 4
    assert "Black, Woman raters (n = 16)" in capsys.readouterr().out
    assert (tmp_path / "result.json").stat().st_size > 10_000


def test_the_notebook_runs_and_holds_no_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs for cell in codes)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    NotebookClient(notebook, timeout=280, resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = [output.get("data", {}) for cell in codes for output in cell.outputs]
    assert any("Black, Woman" in data.get("text/html", "") for data in shown)
    assert sum("vega" in "".join(map(str, data.values())) for data in shown) == 2
