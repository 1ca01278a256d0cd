"""Limits of memory and time for the reading of one file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from grasp_core.model.settings import read_settings

_SHARE = 3
"""A file may take this part of the machine's memory: two at a time leave the rest to whoever asked."""
_SETTINGS = ("GRASP_READ_MEMORY_MB", "GRASP_READ_SECONDS")
CONTROL_GROUPS = Path("/sys/fs/cgroup")

DONE, NO_MEMORY, FAULTY = 0, 3, 4
"""How a process that reads ends by itself."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Most that one file may take.

    `memory`: bytes: of the process that parses, and of what handling the table will take afterwards.
    `seconds`: of processor time.
    """

    memory: int
    seconds: int


def current_limits() -> Limits:
    """Those that the settings give, or the machine where they leave it open.

    Raises SettingsError if one of them cannot be read.
    """
    settings = read_settings({name: os.environ[name] for name in _SETTINGS if name in os.environ})
    return Limits(settings.read_memory_mb * 2**20 or machine_memory() // _SHARE, settings.read_seconds)


def machine_memory(control_groups: Path = CONTROL_GROUPS) -> int:
    """Bytes of memory that this machine, or the container, has."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in _control_files(control_groups):
        try:
            sizes.append(int(path.read_text()))
        except (OSError, ValueError):  # not there, or "max"
            continue
    return min(sizes)


def _control_files(groups: Path) -> list[Path]:
    """Files that may hold the limit of this process's control groups, of versions 2 and 1."""
    files = [groups / "memory.max", groups / "memory" / "memory.limit_in_bytes"]
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return files
    for line in lines:
        _, names, path = line.split(":", 2)
        inside = Path(path.lstrip("/"))
        for group in (inside, *inside.parents):
            if not names:
                files.append(groups / group / "memory.max")
            elif "memory" in names.split(","):
                files.append(groups / "memory" / group / "memory.limit_in_bytes")
    return files
