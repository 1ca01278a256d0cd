"""Start the tools, annotate, export, and compare."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from exports import doccano, label_studio, potato
from exports.answers import Ledger

_TOOLS = (label_studio, doccano, potato)


def main() -> int:
    """Run what was asked for; 1 if a file was read otherwise than sent, or a tool could not be run."""
    parser = argparse.ArgumentParser(prog="python -m exports", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the made-up answers (default: %(default)s)")
    names = [tool.TOOL for tool in _TOOLS]
    parser.add_argument(
        "tools", nargs="*", choices=[*names, []], metavar="TOOL", help=f"of {', '.join(names)}; all"
    )
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers are stopped as well
    ledger = Ledger()
    for tool in _TOOLS:
        if given.tools and tool.TOOL not in given.tools:
            continue
        with tempfile.TemporaryDirectory(prefix="grasp-exports-") as folder:
            try:
                tool.exported(Path(folder), ledger, given.seed)
            except (OSError, RuntimeError, subprocess.SubprocessError, LookupError) as error:
                log = Path(folder) / "log"
                said = log.read_text(encoding="utf-8", errors="replace")[-1_500:] if log.exists() else ""
                ledger.give_up(tool.TOOL, f"{error}\n{said}")
    sys.stdout.write(f"{ledger.agreed} of {ledger.files} files hold what was sent\n")
    return int(bool(ledger.not_run) or ledger.agreed < ledger.files)


if __name__ == "__main__":
    sys.exit(main())
