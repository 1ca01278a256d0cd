"""Addresses of data, read so strictly that what is compared is what is asked for."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, unquote, urlsplit

from grasp_core.errors import DataError
from grasp_core.wording import quoted

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
class Address:
    """A place on another machine.

    Parameters
    ----------
    scheme : str
    host : str
        Host with its port where that is not the usual one; a bucket, for object stores.
    segments : tuple of str
        Of the path; percent-encoded for web servers, in one way only.
    """

    scheme: str
    host: str
    segments: tuple[str, ...]

    @property
    def url(self) -> str:
        """The address as one text."""
        return f"{self.scheme}://{self.host}/" + "/".join(self.segments)

    @property
    def name(self) -> str:
        """The file's name."""
        last = self.segments[-1] if self.segments else self.host
        return unquote(last) if self.scheme in _WEB else last

    def same_host(self, other: Address) -> bool:
        """Whether protocol, host and port are the same."""
        return (self.scheme, self.host) == (other.scheme, other.host)

    def below(self, prefix: Address) -> bool:
        """Whether this is `prefix` or further down its path, by whole segments."""
        start = self.segments[: len(prefix.segments)]
        return self.same_host(prefix) and start == prefix.segments


def parse(text: str) -> Address:
    """Read an address.

    Raises
    ------
    DataError
        If it is none, or written in a way that programs read differently: with a user name, a query, dots
        for folders, encoded slashes, several protocols in a chain.
    """
    parts = _split(text)
    if parts.scheme in _NOT_REMOTE:
        raise DataError(f"{quoted(parts.scheme + '://')} does not lead to another machine; {_EXPECTED}")
    host = _host(parts)
    *folders, last = parts.path.split("/")[1:] or [""]
    segments = tuple(_segment(piece, parts.scheme) for piece in (*folders, *([last] if last else [])))
    return Address(parts.scheme, host, segments)


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


def _host(parts: SplitResult) -> str:
    name, port = parts.netloc, ""
    if parts.scheme in _WEB or parts.port is not None:
        usual = parts.port in (None, _WEB.get(parts.scheme))
        port = "" if usual else f":{parts.port}"
        name = (parts.hostname or "").rstrip(".")
        name = f"[{name}]" if ":" in name else name
    if not _HOST.fullmatch(name):
        raise DataError(f"{quoted(name)} is not the name of a host; {_EXPECTED}")
    return name + port


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
