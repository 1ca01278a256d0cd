"""Stored measurements in files: an interrupted study continues from them."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np

from benchmarks.study.cells import Cell
from benchmarks.study.measure import Measured

_SOURCES = Path(__file__).parents[2]


def of_these_sources(folder: Path) -> Path:
    """Return the subfolder for measurements by exactly these sources of program and benchmarks."""
    digest = hashlib.sha256()
    for source in sorted(
        file for part in ("benchmarks", "grasp_core") for file in (_SOURCES / part).rglob("*.py")
    ):
        content = source.read_bytes()
        digest.update(f"{source.relative_to(_SOURCES)} {len(content)}\n".encode() + content)
    return folder / digest.hexdigest()[:16]


def path(folder: Path, cell: Cell, start: int) -> Path:
    """Return the file of the data sets from seed `start` on."""
    return folder / f"{cell.key}-{start:05}.npz"


def keep(target: Path, measured: Measured) -> None:
    """Write measurements to a file, complete or not at all."""
    partial = target.with_suffix(f".{os.getpid()}")
    with partial.open("wb") as file:
        np.savez_compressed(
            file,
            groups=np.array(measured.groups),
            figures=measured.figures,
            dsi=measured.dsi,
            warnings=np.array([" ".join(sorted(codes)) for codes in measured.warnings]),
            **{f"peer-{name}": values for name, values in measured.peers.items()},
        )
    partial.replace(target)


def kept(source: Path) -> Measured:
    """Read measurements from a file."""
    with np.load(source, allow_pickle=False) as found:
        return Measured(
            tuple(tuple(map(str, group)) for group in found["groups"]),
            found["figures"],
            found["dsi"],
            tuple(frozenset(str(codes).split()) for codes in found["warnings"]),
            {name.removeprefix("peer-"): found[name] for name in found.files if name.startswith("peer-")},
        )
