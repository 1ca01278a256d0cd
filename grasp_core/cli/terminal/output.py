"""Files and formats in which commands write their results."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grasp_core.cli.parser import option
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.text import safe_cell

if TYPE_CHECKING:
    import pandas as pd

_STANDARD = Path("-")
_ENDINGS = {
    ".json": "json",
    ".csv": "csv",
    ".md": "markdown",
    ".html": "html",
    ".xlsx": "xlsx",
    ".tex": "latex",
}


def add_output(
    group: argparse._ArgumentGroup,
    formats: Sequence[str],
    what: str = "the result",
    *,
    csv: str | None = None,
    chart: str | None = None,
) -> None:
    """Add the options for the result's file and format; the first format is the default."""
    endings = [ending for ending, name in _ENDINGS.items() if name in formats]
    others = f", or by its ending {', '.join(endings[1:])} as that" if endings[1:] else ""
    option(group, "-o --out FILE", f"{what} as {formats[0].upper()}{others}; - is standard output", Path)
    option(
        group,
        "--format",
        "of --out, or of standard output where no file is named (default: text)",
        choices=("text", *formats),
    )
    for usage, words in (("--csv FILE", csv), ("--chart FILE", chart)):
        if words is not None:
            option(group, usage, words, Path)


def check_output(chosen: argparse.Namespace, formats: Sequence[str]) -> None:
    """Before any work, refuse output that cannot be written; `formats`: as for :func:`add_output`."""
    for name in ("out", "csv", "chart", "recruitment"):
        check_target(getattr(chosen, name, None))
    chart: Path | None = getattr(chosen, "chart", None)
    if chart is not None:
        from grasp_core.report.charts.theme import IMAGES, check_can_draw  # it loads altair

        check_ending("--chart", chart, IMAGES)
        check_can_draw(chart.suffix[1:].upper())
    if chosen.out is not None and chosen.format == "text":
        raise SpecError("--format text is what is printed; write it to a file with > FILE")
    if chosen.out is not None and chosen.format is None and chosen.out.suffix:
        check_ending("--out", chosen.out, [one for one, name in _ENDINGS.items() if name in formats])


def check_ending(option: str, path: Path | None, known: Collection[str]) -> None:
    """Refuse a file whose ending is not known."""
    if path is not None and path.suffix.lower() not in known:
        raise SpecError(f"{option} takes a file that ends in {', '.join(known)}; found {path.name}")


def write_output(chosen: argparse.Namespace, makers: Mapping[str, Callable[[], str | bytes]]) -> None:
    """Write the named file and that of ``--csv``; `makers` make each format, the first by default."""
    wanted = []
    if chosen.out is not None or chosen.format not in (None, "text"):
        target = chosen.out or _STANDARD
        wanted.append((target, chosen.format or _ENDINGS.get(target.suffix.lower(), next(iter(makers)))))
    if getattr(chosen, "csv", None) is not None:
        wanted.append((chosen.csv, "csv"))
    for target, name in wanted:
        made = makers[name]()
        write_bytes(target, made.encode("utf-8") if isinstance(made, str) else made)


def safe_csv(frame: pd.DataFrame, lineterminator: str = "\n") -> str:
    """Return a frame as CSV; texts that a spreadsheet would run get a leading apostrophe."""
    safe = frame.map(lambda cell: safe_cell(cell) if isinstance(cell, str) else cell)
    return safe.to_csv(index=False, lineterminator=lineterminator)


def records(frame: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return a frame's rows for JSON, null for missing values."""
    return frame.astype(object).where(frame.notna(), None).to_dict(orient="records")


def tables_markdown(tables: Mapping[str, pd.DataFrame]) -> str:
    """Return tables by their headings as Markdown; for a table without rows, it says "None."."""
    from grasp_core.report.writers.markdown import escape_inline, frame_markdown

    parts = []
    for heading, table in tables.items():
        parts += [f"## {escape_inline(heading)}", "None." if table.empty else frame_markdown(table, 1)]
    return "\n\n".join(parts) + "\n"


def check_target(target: Path | None) -> None:
    """Before any work, refuse a file that cannot be written; None means no file."""
    if target is None or target == _STANDARD:
        return
    if not target.parent.is_dir():
        raise DataError(f"{target}: cannot be written, there is no folder {target.parent}")
    if target.is_dir():
        raise DataError(f"{target}: cannot be written, it is a folder; name a file in it")


def write_text(target: Path | None, text: str) -> None:
    """Write a text as UTF-8 with its own line ends; None means no file."""
    if target is not None:
        write_bytes(target, text.encode("utf-8"))


def write_chart(target: Path | None, make: Callable[[], Any]) -> None:
    """Write a chart in the format of the file's ending; None means no file."""
    if target is not None:
        from grasp_core.report.charts.theme import IMAGES

        write_bytes(target, IMAGES[target.suffix.lower()](make()))


def write_bytes(target: Path, content: bytes) -> None:
    """Write a file, or standard output; raises as :func:`write_text`."""
    if target == _STANDARD:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
        return
    with unwritable(target):
        target.write_bytes(content)


@contextlib.contextmanager
def unwritable(target: Path) -> Iterator[None]:
    """Turn an OSError into a DataError that the file or folder cannot be written."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{target}: cannot be written ({error.strerror})") from None
