"""Print docs/deploy.md's table of settings from the code; --write writes it there."""

from __future__ import annotations

import sys
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from grasp_core.model.settings import Settings, variable  # noqa: E402

DOCUMENT = ROOT / "docs" / "deploy.md"
FIRST, LAST = "<!-- settings: make settings-table -->\n", "<!-- end of settings -->\n"


def table() -> str:
    """Return one row per setting."""
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    rows += [
        f"| `{variable(field.name)}` | {_default(field)} | {_meaning(field)} |" for field in fields(Settings)
    ]
    return "\n".join(rows) + "\n"


def written() -> str:
    """Return the document with the current table."""
    text = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = text.partition(FIRST)
    _, _, after = rest.partition(LAST)
    return f"{before}{FIRST}\n{table()}\n{LAST}{after}"


def _default(field: Field[Any]) -> str:
    value = field.default
    if isinstance(value, bool):
        return "`yes`" if value else "`no`"
    text = (
        ",".join(value)
        if isinstance(value, tuple)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )
    return f"`{text}`" if text else "none"


def _meaning(field: Field[Any]) -> str:
    meaning = field.metadata["meaning"]
    return f"{meaning}. Secret" if field.metadata["secret"] else meaning


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        DOCUMENT.write_text(written(), encoding="utf-8")
    else:
        print(table(), end="")
