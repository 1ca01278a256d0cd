"""``example``: the files of the synthetic example."""

from __future__ import annotations

import argparse
from pathlib import Path

from grasp_core.model.errors import DataError
from grasp_core.reading.example import example_files


def fill_example(example: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    example.add_argument("directory", type=Path, metavar="DIR")
    example.set_defaults(command=_example)


def _example(chosen: argparse.Namespace) -> None:
    try:
        chosen.directory.mkdir(parents=True, exist_ok=True)
        for name, content in example_files().items():
            (chosen.directory / name).write_bytes(content)
    except OSError as error:
        raise DataError(f"{chosen.directory}: cannot be written ({error.strerror})") from None
