"""Write the small answer that Start shows: three groups of the example's result, computed anew."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from grasp_core.engine.compute import compute  # noqa: E402
from grasp_core.engine.pools import workers  # noqa: E402
from grasp_core.engine.pools.pool import Pool  # noqa: E402
from grasp_core.engine.watching import Watcher  # noqa: E402
from grasp_core.model.example import example_files, example_spec  # noqa: E402
from grasp_core.model.result import RunResult, Timing  # noqa: E402
from grasp_core.reading.guess.tables import loaded  # noqa: E402
from grasp_core.reading.sandbox.read import read_table  # noqa: E402
from grasp_core.report.findings.selection import by_verdict  # noqa: E402

ANSWER = ROOT / "pages/_ui/example_answer.json"
PERMUTATIONS = 5_000
VERDICTS = ("clear", "hint", "none")


def in_small(result: RunResult) -> RunResult:
    """Return the result with its first clear group, its first hint and its first group without difference."""
    rows = [one.row for one in by_verdict(result)]
    groups = [
        next(row for row in rows if row.verdict is not None and row.verdict.code == code) for code in VERDICTS
    ]
    return replace(
        result,
        groups=tuple(groups),
        dsi=(),
        pairs=(),
        assignment=(),
        associations=(),
        findable=(),
        everybody=None,
        timing=Timing(0.0, 0.0, 0.0),
    )


def main() -> None:
    """Compute the example and write the file."""
    whole = example_spec()
    spec = replace(whole, analysis=replace(whole.analysis, permutations=PERMUTATIONS, pairs=False))
    tables = [read_table(content, name) for name, content in example_files().items()]
    pool = Pool(workers.threads, 2)
    try:
        result = compute(loaded(*tables, spec.data), spec, pool, Watcher())
    finally:
        pool.close()
    ANSWER.write_text(json.dumps(in_small(result).to_dict(), allow_nan=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
