"""Data sets of several files in their publishers' repositories, whose listings tell size and checksum."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from grasp_core.model.errors import DataError
from grasp_core.model.wording import listed, quoted
from grasp_core.reading.sources.published import TIMEOUT_S, download, saying_why

_PIECE = 1 << 20
_MAX_LISTING = 4 << 20
_MAX_FILE = 256 << 20
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Repository:
    """Where a publisher keeps a data set.

    `kind`: whose interface lists its files.
    `name`: owner and name, e.g. "ought/raft".
    `api`, `files`: addresses of the listing's host and of the files'.
    `folder`: the folder of the repository that is fetched; "" is all of it.
    `wanted`: regular expression that the whole path of a file below `folder` has to match.
    `licence`, `citation`, `warning`: as in :class:`~grasp_core.reading.sources.published.Published`.
    """

    kind: Literal["hugging face", "github"]
    name: str
    api: str
    files: str
    folder: str
    wanted: str
    licence: str
    citation: str
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Listed:
    """A file as its publisher lists it.

    `path`: below the repository's folder.
    `checksum`: ``sha256:`` or ``git:`` (SHA-1 of the file as a Git object), and hexadecimal digits.
    """

    path: str
    url: str
    bytes: int
    checksum: str


@dataclass(frozen=True, slots=True)
class Listing:
    """What a repository holds at a commit.

    `commit`: 40 hexadecimal digits.
    `files`: by path.
    """

    commit: str
    files: tuple[Listed, ...]

    @property
    def bytes(self) -> int:
        """Of all files."""
        return sum(file.bytes for file in self.files)


REPOSITORIES: Mapping[str, Repository] = {
    "raft": Repository(
        kind="hugging face",
        name="ought/raft",
        api="https://huggingface.co",
        files="https://huggingface.co",
        folder="data",
        wanted=r"\w+/(train|test_unlabeled)\.csv",
        licence="by task: `grasp raft tasks`; semiconductor_org_types is for non-commercial use alone",
        citation=(
            "Alex et al. (2021), RAFT: A Real-World Few-Shot Text Classification Benchmark, "
            "https://arxiv.org/abs/2109.14076"
        ),
        warning="The tweets of tweet_eval_hate are offensive and hateful, towards women and immigrants.",
    ),
    "d3code": Repository(
        kind="github",
        name="google-research-datasets/D3code",
        api="https://api.github.com",
        files="https://raw.githubusercontent.com",
        folder="",
        wanted=r"(.+/)?[\w-]*(raters|items|ratings)\.csv",
        licence="CC BY 4.0",
        citation=(
            "Davani et al. (2024), D3CODE: Disentangling Disagreements in Data across Cultures on "
            "Offensiveness Detection and Evaluation, https://arxiv.org/abs/2404.10857"
        ),
        warning="Many of the texts are offensive.",
    ),
}


def listing(repository: Repository) -> Listing:
    """Ask the publisher what there is, before anything is downloaded.

    Raises DataError if the publisher cannot be reached, answers otherwise than expected, or has no such
    files.
    """
    name, start = repository.name, repository.api
    if repository.kind == "hugging face":
        commit = _commit(_json(f"{start}/api/datasets/{name}"), start)
        plain = _json(f"{start}/api/datasets/{name}/tree/{commit}/{repository.folder}?recursive=true")
    else:
        commit = _commit(_json(f"{start}/repos/{name}/commits/HEAD"), start)
        answer = _json(f"{start}/repos/{name}/git/trees/{commit}?recursive=1")
        plain = answer.get("tree") if isinstance(answer, dict) else None
    try:
        entries = [_listed(repository, commit, one) for one in plain if one.get("type") in ("file", "blob")]
    except (AttributeError, KeyError, TypeError):
        raise _strange(start) from None
    files = sorted((one for one in entries if one is not None), key=lambda one: one.path)
    if not files:
        raise DataError(f"{repository.files}/{name} holds none of the files that were there; look there")
    return Listing(commit, tuple(files))


def _listed(repository: Repository, commit: str, plain: Mapping[str, Any]) -> Listed | None:
    """The file, if it is wanted."""
    path, before = str(plain["path"]), f"{repository.folder}/" if repository.folder else ""
    inside = path.removeprefix(before)
    if not path.startswith(before) or not re.fullmatch(repository.wanted, inside) or ".." in inside:
        return None
    large = plain.get("lfs")  # stored apart: its object in Git is only a pointer
    hugging_face = repository.kind == "hugging face"
    size = (large or plain)["size"]
    checksum = (
        f"sha256:{large['oid'].removeprefix('sha256:')}"
        if large
        else f"git:{plain['oid' if hugging_face else 'sha']}"
    )
    if not isinstance(size, int) or not re.fullmatch(r"(sha256:[0-9a-f]{64}|git:[0-9a-f]{40})", checksum):
        raise KeyError(path)
    if size > _MAX_FILE:
        raise DataError(f"{path} of {repository.name} has {size / 1e6:.0f} MB, more than is fetched at most")
    start = f"{repository.files}/datasets" if hugging_face else repository.files
    middle = f"resolve/{commit}" if hugging_face else commit
    return Listed(inside, f"{start}/{repository.name}/{middle}/{quote(path)}", size, checksum)


def fetch_listed(found: Listing, folder: Path, told: Callable[[int, int], None]) -> list[Path]:
    """Download every file that is not there yet, each checked before it gets its name.

    `folder`: made where it does not exist.
    `told`: takes how many files are there, and how many there will be.

    Returns in the order of the listing.
    Raises DataError if a file that is there is another one, the server does not deliver, what came is not
    what was listed, or it cannot be written. Files that came before stay: a second call goes on after them.
    """
    targets = [folder / file.path for file in found.files]
    other = [
        target
        for file, target in zip(found.files, targets, strict=True)
        if target.exists() and not _is(target, file)
    ]
    if other:
        raise DataError(
            f"{listed(list(map(str, other)), 3)}: a file of this name is there already and is not the one "
            "published; move it away, or choose another folder"
        )
    for done, (file, target) in enumerate(zip(found.files, targets, strict=True), 1):
        try:
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                _download(file, target)
        except OSError as error:
            raise DataError(f"{target} cannot be written ({error.strerror}); choose another folder") from None
        told(done, len(targets))
    return targets


def _download(file: Listed, target: Path) -> None:
    part = target.with_name(f"{target.name}.part")
    try:
        with saying_why(file.url):
            download(file.url, file.bytes, part)
        if not _is(part, file):
            raise DataError(
                f"{file.url}: the file that came is not the one listed (its checksum is another), so it was "
                "not kept; try again"
            )
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _is(path: Path, file: Listed) -> bool:
    """Whether a file on disk is the one listed."""
    if not path.is_file() or path.stat().st_size != file.bytes:
        return False
    kind, _, digits = file.checksum.partition(":")
    digest = hashlib.sha256() if kind == "sha256" else hashlib.sha1(usedforsecurity=False)
    if kind == "git":
        digest.update(f"blob {file.bytes}\0".encode())
    with path.open("rb") as content:
        while piece := content.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest() == digits


def _json(url: str) -> Any:
    import requests

    with saying_why(url), requests.get(url, stream=True, timeout=TIMEOUT_S) as response:
        response.raise_for_status()
        content = b""
        for piece in response.iter_content(_PIECE):
            content += piece
            if len(content) > _MAX_LISTING:
                raise _strange(url)
        try:
            return json.loads(content)
        except ValueError:
            raise _strange(url) from None


def _commit(plain: Any, start: str) -> str:
    commit = plain.get("sha") if isinstance(plain, dict) else None
    if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
        raise _strange(start)
    return commit


def _strange(url: str) -> DataError:
    return DataError(
        f"{quoted(url)} answered otherwise than expected; look there whether the data have moved"
    )
