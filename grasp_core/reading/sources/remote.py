"""Files at addresses: reading of addresses, and fetching within limits."""

from __future__ import annotations

import contextlib
import io
import re
import time
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, quote, unquote, urlsplit

from grasp_core.model.errors import DataError
from grasp_core.model.extras import require
from grasp_core.model.text import quoted
from grasp_core.reading.archives import containers

if TYPE_CHECKING:
    import aiohttp

_WEB = {"http": 80, "https": 443}
_NOT_REMOTE = frozenset(
    (
        *("asynclocal", "data", "dask", "file", "git", "local", "root"),
        *("async_wrapper", "asyncwrapper", "blockcache", "cached", "dir", "filecache", "generic"),
        *("libarchive", "reference", "simplecache", "tar", "zip"),
    )
)
"""Protocols of fsspec that read this machine's files, or are layers above another protocol."""
_HOST = re.compile(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]")
_ENCODED = re.compile("%[0-9A-Fa-f]{2}")
_KEPT = "!$&'()*+,;=:@~"
_EXPECTED = "write it like https://host/folder/file.csv"


@dataclass(frozen=True, slots=True)
class RemoteAddress:
    """A place on another machine."""

    scheme: str
    host: str  # host with its port if that is not the usual one; a bucket, for object stores
    segments: tuple[str, ...]  # segments of the path; for web servers percent-encoded, in one way only

    @property
    def url(self) -> str:
        """The address as one text."""
        return f"{self.scheme}://{self.host}/" + "/".join(self.segments)

    @property
    def name(self) -> str:
        """The file's name."""
        last = self.segments[-1] if self.segments else self.host
        return unquote(last) if self.scheme in _WEB else last

    def same_host(self, other: RemoteAddress) -> bool:
        """Return whether protocol, host and port are the same."""
        return (self.scheme, self.host) == (other.scheme, other.host)

    def below(self, prefix: RemoteAddress) -> bool:
        """Return whether this is `prefix` or further down its path, by whole segments."""
        start = self.segments[: len(prefix.segments)]
        return self.same_host(prefix) and start == prefix.segments


def parse(text: str) -> RemoteAddress:
    """Read an address."""
    parts = _split(text)
    if parts.scheme in _NOT_REMOTE:
        raise DataError(f"{quoted(parts.scheme + '://')} does not lead to another machine; {_EXPECTED}")
    name, port = parts.netloc, ""
    if parts.scheme in _WEB or parts.port is not None:
        usual = parts.port in (None, _WEB.get(parts.scheme))
        port = "" if usual else f":{parts.port}"
        name = (parts.hostname or "").rstrip(".")
        name = f"[{name}]" if ":" in name else name
    if not _HOST.fullmatch(name):
        raise DataError(f"{quoted(name)} is not the name of a host; {_EXPECTED}")
    host = name + port
    *folders, last = parts.path.split("/")[1:] or [""]
    segments = tuple(_segment(piece, parts.scheme) for piece in (*folders, *([last] if last else [])))
    return RemoteAddress(parts.scheme, host, segments)


def _split(text: str) -> SplitResult:
    if not text.isprintable() or "\\" in text:
        raise DataError(f"the address has a character that none may have; {_EXPECTED}")
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        raise DataError(f"the address cannot be read; {_EXPECTED}") from None
    if "::" in text.partition("//")[0] or "::" in parts.path or "::" in parts.netloc.rpartition("]")[2]:
        raise DataError(f"the address chains several protocols with '::'; {_EXPECTED}")
    if not parts.scheme or not parts.netloc:
        raise DataError(f"{quoted(text)} is not a whole address; {_EXPECTED}")
    if "@" in parts.netloc:  # not quoted: a password may be there
        raise DataError("the address holds a user name or password; leave them out")
    if "?" in text or "#" in text:
        raise DataError("the address has a query ('?') or a fragment ('#'); leave it out")
    return parts


def _segment(piece: str, scheme: str) -> str:
    plain = unquote(piece)
    shape = unicodedata.normalize("NFKC", plain)
    if not piece or shape.partition(";")[0].strip() in (".", ".."):
        raise DataError(f"the address has an empty folder, or one called '.' or '..'; {_EXPECTED}")
    if set(shape) & set("/\\\ufffd") or not plain.isprintable() or _ENCODED.search(plain):
        raise DataError(f"the address has encoded characters that no file's name has; {_EXPECTED}")
    if "%2e" in piece.lower():
        raise DataError(f"the address has encoded dots; {_EXPECTED}")
    return quote(plain, safe=_KEPT) if scheme in _WEB else piece


TOTAL_SECONDS = 300.0  # the longest that reading one file may take
IDLE_SECONDS = 30.0  # the longest that a server may be silent
_PIECE = 1 << 20

Guard = Callable[[str], None]
"""Receives each address before a request, also of redirects, and raises if it is not allowed."""


def fetch(url: str, name: str, guard: Guard | None = None) -> bytes:
    """Return the content of a file that fsspec can reach."""
    with in_sentences(url, name), _opened(url, guard) as file:
        out = io.BytesIO()
        started = time.monotonic()
        while piece := file.read(_PIECE):
            out.write(piece)
            if out.tell() > containers.MAX_BYTES:
                raise containers.too_large(name)
            if time.monotonic() - started > TOTAL_SECONDS:
                raise TimeoutError
        return out.getvalue()


def file_system(place: str) -> tuple[Any, str]:
    """Return the fsspec file system of a path or an address, and the path in it."""
    import fsspec  # loading it, with its event loop, takes longer than reading a file

    system, path = fsspec.core.url_to_fs(place)
    return system, path


def parquet_files(url: str, name: str) -> list[tuple[str, str]] | None:
    """List path and address of the Parquet files in a folder; None if it is none, or cannot be listed."""
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
    """Turn any error of a protocol's package into one sentence."""
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


@contextlib.contextmanager
def _opened(url: str, guard: Guard | None) -> Iterator[Any]:
    if url.startswith(("http://", "https://")) and "::" not in url:
        require(f"{url.partition(':')[0]}://", "remote", "aiohttp")
        with _on_the_web(url, guard) as file:
            yield file
        return
    files, path = file_system(url)
    files.invalidate_cache()  # cached listings of an object store may be old
    with files.open(path, "rb") as file:
        yield file


@contextlib.contextmanager
def _on_the_web(url: str, guard: Guard | None) -> Iterator[Any]:
    """Open a file on a web server as a stream under limits of time."""
    import aiohttp  # loading it takes longer than reading a file
    import fsspec
    from fsspec.asyn import sync

    closing = contextlib.AsyncExitStack()
    timeout = aiohttp.ClientTimeout(total=TOTAL_SECONDS, sock_connect=IDLE_SECONDS, sock_read=IDLE_SECONDS)

    async def client(**given: Any) -> aiohttp.ClientSession:
        return await closing.enter_async_context(_session(guard, closing, timeout, **given))

    files = fsspec.filesystem(
        url.partition(":")[0],
        get_client=client,
        headers={"Accept-Encoding": "identity"},
        skip_instance_cache=True,
    )
    try:
        # Given any size, fsspec asks for the file at once and not for its length first; it comes as a stream.
        with files.open(url, "rb", block_size=0, size=1) as file:
            yield file
    finally:
        sync(files.loop, closing.aclose)


def _session(
    guard: Guard | None, closing: contextlib.AsyncExitStack, timeout: aiohttp.ClientTimeout, **given: Any
) -> aiohttp.ClientSession:
    """Return a session that lets `closing` close each response: fsspec leaves failed ones open."""
    import aiohttp

    async def guarded(
        request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        if guard is not None:
            guard(str(request.url))
        response = await handler(request)
        closing.callback(response.close)
        return response

    return aiohttp.ClientSession(
        timeout=timeout,
        middlewares=(guarded,),  # sees every request, those that follow a redirect too
        trust_env=True,  # the proxy that the network asks for
        **given,
    )


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
