"""The folder of this machine, or the address, where the workers of a run find what they share."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from grasp_core.errors import DataError
from grasp_core.io.sources import remote

ROOM = 4
"""What can be done without is kept on this machine only if the disk has room for so many of it."""


@contextlib.contextmanager
def workplace(scratch: str | None = None) -> Iterator[str]:
    """A folder for what the workers of a run share, by path or address; it is removed at the end.

    Parameters
    ----------
    scratch : str, optional
        Path or address of a folder that all workers reach, made if need be; by default the folder is a
        temporary one of this machine.

    Raises
    ------
    DataError
        If it cannot be made.
    """
    if scratch is None:
        with tempfile.TemporaryDirectory(prefix="grasp-parts-", ignore_cleanup_errors=True) as folder:
            yield folder
        return
    with remote.in_sentences(scratch, f"scratch folder {scratch}"):
        files, root = remote.file_system(scratch)
    name = f"grasp-parts-{uuid.uuid4().hex}"
    if "://" not in scratch or scratch.startswith("file://"):
        scratch = root  # whole, since workers run in folders of their own
        try:
            os.makedirs(f"{root}/{name}")
        except OSError as error:
            raise DataError(f"scratch folder {root}: {error.strerror}; name another") from None
    try:
        yield f"{scratch.rstrip('/')}/{name}"
    finally:
        with contextlib.suppress(Exception):  # every protocol's package has errors of its own
            files.rm(f"{root.rstrip('/')}/{name}", recursive=True)


def write(place: str, name: str, content: pa.Buffer) -> None:
    """Write a file of a workplace, whole or not at all.

    Raises
    ------
    Exception
        If it cannot be written; every protocol's package has errors of its own.
    """
    if "://" in place:
        files, path = remote.file_system(f"{place}/{name}")
        with files.open(path, "wb") as file:
            file.write(content)
        return
    with tempfile.TemporaryDirectory(dir=place) as folder:
        written = Path(folder) / name
        written.write_bytes(content)
        os.replace(written, Path(place) / name)


def write_if_room(place: str, name: str, content: pa.Buffer) -> None:
    """Write a file that can be done without: not where that would leave little room for what cannot."""
    with contextlib.suppress(Exception):
        if "://" in place or shutil.disk_usage(place).free >= ROOM * content.size:
            write(place, name, content)


def read(place: str, name: str) -> pa.Buffer:
    """The content of a file of a workplace; workers of one machine share its memory.

    Raises
    ------
    Exception
        If it is not there or cannot be read.
    """
    if "://" in place:
        files, path = remote.file_system(f"{place}/{name}")
        return pa.py_buffer(files.cat_file(path))
    return pa.memory_map(f"{place}/{name}").read_buffer()
