"""Print docs/results.md's tables of codes as the code has them; with --write, put them there."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from grasp_core.model.remark_codes import KINDS  # noqa: E402

DOCUMENT = ROOT / "docs" / "results.md"
FIRST, LAST = "<!-- codes: make codes-table -->\n", "<!-- end of codes -->\n"


def tables() -> str:
    """One table per kind of code, under the first line of its docstring."""
    return "\n".join(
        f"{str(kind.__doc__).splitlines()[0]}\n\n| code | sentence |\n|---|---|\n"
        + "".join(f"| `{code.key}` | {_shown(code.pattern)} |\n" for code in kind)
        for kind in KINDS
    )


def written() -> str:
    """The document with the tables as they should be."""
    text = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = text.partition(FIRST)
    _, _, after = rest.partition(LAST)
    return f"{before}{FIRST}\n{tables()}\n{LAST}{after}"


def _shown(pattern: str) -> str:
    return pattern.replace("<", "\\<")


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        DOCUMENT.write_text(written(), encoding="utf-8")
    else:
        print(tables(), end="")
