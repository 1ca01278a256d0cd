"""Files that are read whole: up to a size."""

from pathlib import Path

from grasp_core.model.errors import DataError

MIB = 2**20


def read_at_most(path: Path, most: int, what: str) -> bytes:
    """The content of a file.

    `most`: bytes; nothing is read beyond them.
    `what`: what it should hold, e.g. "a list of ids".
    """
    with path.open("rb") as file:
        content = file.read(most + 1)
    check_size(len(content), most, str(path), what)
    return content


def check_size(size: int, most: int, name: str, what: str) -> None:
    """Refuse what is larger than it may be."""
    if size > most:
        raise DataError(f"{name} is larger than {most // MIB:,} MiB, the most that is read of {what}")
