"""Standard error: things to know, and a line that says how far the work is."""

from __future__ import annotations

import sys


def note(sentence: str) -> None:
    """Say something to know."""
    print(f"note: {sentence}", file=sys.stderr)


def show_line(line: str) -> None:
    """Write on a terminal in place of the line before; nothing is shown elsewhere."""
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def clear_line() -> None:
    """Take the line away."""
    show_line("")


def show_rows(done: int, total: int) -> None:
    """Show how many rows are done."""
    show_line(f"{done:,} of {total:,} rows")
