"""Size limits of files that are read whole."""

from pathlib import Path

from grasp_core.model.errors import DataError

MIB = 2**20


def read_at_most(path: Path, most: int, what: str) -> bytes:
    """Return a file's content; raise DataError if it is too large to be `what` it should be."""
    with path.open("rb") as file:
        content = file.read(most + 1)
    check_size(len(content), most, str(path), what)
    return content


def check_size(size: int, most: int, name: str, what: str) -> None:
    """Raise DataError if `size` is above `most`, both in bytes."""
    if size > most:
        raise DataError(f"{name} is larger than {most // MIB:,} MiB, the most that is read of {what}")
