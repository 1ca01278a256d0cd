"""Commands in this process: what they write, and the sentence with which they are refused."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from grasp_core import cli
from grasp_core.cli.terminal import messages

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = ["--item", "item", "--rater", "rater", "--label", "label"]


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def written(path: str | Path = "result.json") -> dict[str, Any]:
    """What a command wrote as JSON, here or in another folder."""
    found: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    return found


def _code(*arguments: str | Path) -> int:
    """The exit code of a command that tells of no progress in its first half minute."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(messages, "_SPACED", messages._Spaced())
        return cli.main([*map(str, arguments)])


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """What a command that does what it was asked prints and says."""
    assert _code(*arguments) == 0
    return capsys.readouterr()


def refused(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """The one sentence of a refusal, in front of which there is nothing but what was read."""
    capsys.readouterr()
    assert _code(*arguments) == cli.BAD_INPUT == 2
    said = capsys.readouterr()
    assert all(line.startswith("label ") for line in said.out.splitlines()), said.out
    *notes, sentence = said.err.splitlines()
    assert all(line.startswith("note: ") for line in notes), notes
    assert sentence.startswith("grasp: ")
    return sentence
