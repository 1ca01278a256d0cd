"""Print docs/codes.csv, all codes with their sentences, from the code; --write writes the file."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from grasp_core.model.remark_codes import KINDS  # noqa: E402

DOCUMENT = ROOT / "docs" / "codes.csv"


def written() -> str:
    """Return one row per code; its kind is the first line of the kind's docstring."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["code", "sentence", "kind"])
    for kind in KINDS:
        about = str(kind.__doc__).splitlines()[0]
        table.writerows([code.key, code.pattern, about] for code in kind)
    return text.getvalue()


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        DOCUMENT.write_text(written(), encoding="utf-8")
    else:
        print(written(), end="")
