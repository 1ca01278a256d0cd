"""Files on web servers and object stores, read whole under limits of size and time."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable, Iterator
from typing import Any

from grasp_core.errors import DataError
from grasp_core.extras import require
from grasp_core.io.archives import containers

TOTAL_SECONDS = 300.0
"""The longest that reading one file may take."""
IDLE_SECONDS = 30.0
"""The longest that a server may be silent."""
_PIECE = 1 << 20

Guard = Callable[[str], None]
"""Takes each address before it is asked, redirects too, and raises where it may not be."""


def fetch(url: str, name: str, guard: Guard | None = None) -> bytes:
    """The content of a file that fsspec can reach.

    Parameters
    ----------
    url : str
    name : str
        The file's name for messages.
    guard : callable, optional

    Raises
    ------
    DataError
        If it cannot be reached, is not there, is larger than
        :data:`~grasp_core.io.archives.containers.MAX_BYTES` or takes longer than :data:`TOTAL_SECONDS`.
    """
    with in_sentences(url, name), _opened(url, guard) as file:
        return _whole(file, name)


def file_system(place: str) -> tuple[Any, str]:
    """The fsspec file system that holds a path or an address, and the path in it."""
    import fsspec  # with its event loop it takes longer to load than a file to be read

    system, path = fsspec.core.url_to_fs(place)
    return system, path


def parquet_files(url: str, name: str) -> list[tuple[str, str]] | None:
    """The Parquet files of a folder at an address that can be listed: path below it and address of each.

    None where the address is no such folder.

    Raises
    ------
    DataError
        If it cannot be listed, or holds none.
    """
    if url.startswith(("http://", "https://")) or "::" in url:
        return None
    with in_sentences(url, name):
        files, root = file_system(url)
        files.invalidate_cache()
        if not files.isdir(root):
            return None
        found = sorted(path for path in files.find(root) if path.endswith(".parquet"))
        if not found:
            raise DataError(
                f"{name} is a folder without *.parquet files; name one that holds some, or a file"
            )
        return [(path[len(root) :].lstrip("/"), files.unstrip_protocol(path)) for path in found]


@contextlib.contextmanager
def in_sentences(url: str, name: str) -> Iterator[None]:
    """Turn whatever a protocol's package raises into one sentence.

    Raises
    ------
    DataError
    """
    try:
        yield
    except DataError:
        raise
    except ImportError:
        raise DataError(_needs_package(url, name)) from None
    except TimeoutError:
        raise DataError(
            f"{name} did not arrive in time ({IDLE_SECONDS:g} s of silence or {TOTAL_SECONDS:g} s in all are "
            "the limits); try again later, or download and upload it"
        ) from None
    except FileNotFoundError:
        raise DataError(f"{name} is not at that address; check its spelling") from None
    except Exception as error:  # every protocol's package has errors of its own
        raise DataError(f"{name} cannot be read from its address: {_reason(error)}") from None


def _whole(file: Any, name: str) -> bytes:
    out = io.BytesIO()
    started = time.monotonic()
    while piece := file.read(_PIECE):
        out.write(piece)
        if out.tell() > containers.MAX_BYTES:
            raise DataError(
                f"{name} is larger than {containers.MAX_BYTES / 1024**3:.3g} GiB, the most that is read; "
                "split or thin it"
            )
        if time.monotonic() - started > TOTAL_SECONDS:
            raise TimeoutError
    return out.getvalue()


@contextlib.contextmanager
def _opened(url: str, guard: Guard | None) -> Iterator[Any]:
    if url.startswith(("http://", "https://")) and "::" not in url:
        require(f"{url.partition(':')[0]}://", "remote", "aiohttp")
        from grasp_core.io.sources.web_files import (
            opened,  # its client takes longer to load than a file to be read
        )

        with opened(url, guard, TOTAL_SECONDS, IDLE_SECONDS) as file:
            yield file
        return
    files, path = file_system(url)
    files.invalidate_cache()  # what was known of an object store may be of another day
    with files.open(path, "rb") as file:
        yield file


def _needs_package(url: str, name: str) -> str:
    from fsspec.registry import known_implementations

    scheme = url.partition(":")[0]
    package = str(known_implementations.get(scheme, {}).get("class", "")).partition(".")[0]
    if package in ("", "fsspec"):
        return f"{name} cannot be read: {scheme}:// needs a Python package that is not installed here"
    return f"{name} cannot be read: {scheme}:// needs the package {package}: pip install {package}"


def _reason(error: Exception) -> str:
    status = getattr(error, "status", None)
    if isinstance(error, PermissionError) or status in (401, 403):
        return "access is not allowed"
    if isinstance(status, int):
        return f"the server answers with status {status}"
    if isinstance(error, ValueError) and "Protocol not known" in str(error):
        return "its protocol is not known here"
    if isinstance(error, OSError):
        return "there is no connection to it, or it broke"
    return type(error).__name__
