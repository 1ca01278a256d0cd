"""Published data sets that can be downloaded: where they are, what they are, under which licence."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from grasp_core.model.errors import DataError

TIMEOUT_S = 30
"""The longest that a server may be silent."""
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Published:
    """A file that its publisher offers on the web.

    `sha256`: of the file; another one is refused.
    `warning`: what a reader should know before opening it.
    """

    url: str
    sha256: str
    bytes: int
    licence: str
    citation: str
    warning: str = ""

    @property
    def file_name(self) -> str:
        """The name that the publisher gave the file."""
        return PurePosixPath(urlsplit(self.url).path).name


_DICES = "https://raw.githubusercontent.com/google-research-datasets/dices-dataset/main"
_AROYO = (
    "Aroyo et al. (2023), DICES Dataset: Diversity in Conversational AI Evaluation for Safety, "
    "https://arxiv.org/abs/2306.11247"
)
_OFFENSIVE = "Some of the conversations are offensive."

# Sizes and checksums: checksums.tsv of `dices` in the TensorFlow Datasets catalogue.
PUBLISHED: Mapping[str, Published] = {
    "dices-350": Published(
        url=f"{_DICES}/350/diverse_safety_adversarial_dialog_350.csv",
        sha256="63cb8620eb04e64957f9e45b1f7cb3d079c4eed8e8b28909f46e0b7038ce4301",
        bytes=31_143_485,
        licence="CC BY 4.0",
        citation=_AROYO,
        warning=_OFFENSIVE,
    ),
    "dices-990": Published(
        url=f"{_DICES}/990/diverse_safety_adversarial_dialog_990.csv",
        sha256="14332b6391cdee80383b765c734de3bebf6d8553141ee7d2f47ef0910a12fcf7",
        bytes=50_399_432,
        licence="CC BY 4.0",
        citation=_AROYO,
        warning=_OFFENSIVE,
    ),
}


def fetch(name: str, folder: Path, published: Mapping[str, Published] = PUBLISHED) -> Path:
    """Download a published data set into a folder, unless it is there already.

    `name`: a key of `published`.
    `folder`: made where it does not exist.

    Returns the file, under its publisher's name.
    Raises DataError if the name is unknown, the server does not deliver, the file is another one than was
    published, or it cannot be written. Nothing is left behind then, and a file that was there stays as it is.
    """
    if name not in published:
        raise DataError(f"{name} is no data set that can be fetched; there are {', '.join(published)}")
    wanted = published[name]
    target = folder / wanted.file_name
    try:
        if target.exists():
            return _checked(target, wanted)
        _download(wanted, target)
    except OSError as error:
        why = error.strerror or "no permission"  # pooch words that one itself
        raise DataError(f"{target} cannot be written ({why}); choose another folder") from None
    return target


def _checked(target: Path, wanted: Published) -> Path:
    with target.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != wanted.sha256:
            raise DataError(
                f"{target} is there already and is not the file as published; move it away, or choose "
                "another folder"
            )
    return target


@contextmanager
def saying_why(url: str) -> Iterator[None]:
    """Word what `requests` raises inside as one sentence.

    Raises DataError.
    """
    from requests import HTTPError, RequestException

    host = urlsplit(url).netloc
    try:
        yield
    except HTTPError as error:
        answer = error.response
        status = "an error" if answer is None else f"{answer.status_code} {answer.reason}".strip()
        raise DataError(f"{url}: {host} answered {status}; look there whether the file has moved") from None
    except RequestException as error:
        raise DataError(
            f"{url}: {host} cannot be reached, or broke off ({type(error).__name__}); check the "
            "network and try again"
        ) from None


def _download(wanted: Published, target: Path) -> None:
    """Write the file under another name first, check it, then give it its own."""
    import pooch  # with requests, of an extra

    pooch.get_logger().setLevel("WARNING")
    try:
        with saying_why(wanted.url):
            pooch.retrieve(
                wanted.url,
                known_hash=f"sha256:{wanted.sha256}",
                fname=target.name,
                path=target.parent,
                downloader=lambda _url, output, _pooch: download(wanted.url, wanted.bytes, Path(output)),
            )
    except ValueError:
        raise DataError(
            f"{wanted.url}: the file that came is not the one published (its SHA-256 is another), so it was "
            "not kept; try again, and if it stays so, the publisher has changed it"
        ) from None


def download(url: str, size: int, output: Path) -> None:
    """Write what the server sends, one piece beyond the size that is told at most."""
    import requests

    with (
        output.open("wb") as file,
        requests.get(url, stream=True, timeout=TIMEOUT_S) as response,
    ):
        response.raise_for_status()
        for piece in response.iter_content(_PIECE):
            file.write(piece)
            if file.tell() > size:
                return
