"""``fetch`` and ``example``: published data sets from their authors' sites, and a made-up one."""

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from urllib.parse import quote, urlsplit

from grasp_core.benchmark.tasks import TASK_FILE, builtin_tasks
from grasp_core.cli.parser import option
from grasp_core.cli.terminal.output import unwritable, write_text
from grasp_core.model.errors import DataError
from grasp_core.model.example import example_files
from grasp_core.model.text import listed, number, quoted

# The data sets, and how they are fetched and checked

_TIMEOUT_S = 30
"""Most seconds that a server may send nothing."""
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Published:
    """A file that its publisher offers on the web; a file with another `sha256` is refused."""

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

# Sizes and checksums: checksums.tsv of `dices` in the TensorFlow Datasets catalogue.
PUBLISHED: Mapping[str, Published] = {
    f"dices-{size}": Published(
        url=f"{_DICES}/{size}/diverse_safety_adversarial_dialog_{size}.csv",
        sha256=sha256,
        bytes=length,
        licence="CC BY 4.0",
        citation=_AROYO,
        warning="Some of the conversations are offensive.",
    )
    for size, length, sha256 in (
        (350, 31_143_485, "63cb8620eb04e64957f9e45b1f7cb3d079c4eed8e8b28909f46e0b7038ce4301"),
        (990, 50_399_432, "14332b6391cdee80383b765c734de3bebf6d8553141ee7d2f47ef0910a12fcf7"),
    )
}


def fetch(wanted: Published, folder: Path) -> Path:
    """Download a file into a folder under its publisher's name, unless it is there already."""
    file = Listed(wanted.file_name, wanted.url, wanted.bytes, f"sha256:{wanted.sha256}")
    (target,) = fetch_listed(RepositoryFiles("", (file,)), folder, lambda _done, _of: None)
    return target


def _sent(url: str) -> Iterator[bytes]:
    """Yield a server's answer in pieces; errors of `requests` become a DataError with one sentence."""
    import requests  # of an extra

    host = urlsplit(url).netloc
    try:
        with requests.get(url, stream=True, timeout=_TIMEOUT_S) as response:
            response.raise_for_status()
            yield from response.iter_content(_PIECE)
    except requests.HTTPError as error:
        answer = error.response
        status = "an error" if answer is None else f"{answer.status_code} {answer.reason}".strip()
        raise DataError(f"{url}: {host} answered {status}; look there whether the file has moved") from None
    except requests.RequestException as error:
        raise DataError(
            f"{url}: {host} cannot be reached, or broke off ({type(error).__name__}); check the "
            "network and try again"
        ) from None


_MAX_LISTING = 4 << 20
_MAX_FILE = 256 << 20
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Repository:
    """The repository in which a publisher keeps a data set.

    `kind`: the site whose interface lists the files.
    `name`: owner and name, e.g. "ought/raft".
    `api`, `files`: addresses of the host of the listing and of the host of the files.
    `folder`: the folder of the repository that is fetched; "" is all of it.
    `wanted`: regular expression that the whole path of a file below `folder` has to match.
    `licence`, `citation`, `warning`: as in :class:`Published`.
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
    """A file as its publisher lists it; `checksum` is ``sha256:`` or ``git:`` (a Git object), and digits."""

    path: str
    url: str
    bytes: int
    checksum: str


@dataclass(frozen=True, slots=True)
class RepositoryFiles:
    """Files of a repository, by path, at a commit of 40 hexadecimal digits."""

    commit: str
    files: tuple[Listed, ...]

    @property
    def bytes(self) -> int:
        """Bytes of all files together."""
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


def listing(repository: Repository) -> RepositoryFiles:
    """Ask the publisher for the list of files, before anything is downloaded."""
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
    return RepositoryFiles(commit, tuple(files))


def _listed(repository: Repository, commit: str, plain: Mapping[str, Any]) -> Listed | None:
    """Return the file if it is wanted, else None."""
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


def fetch_listed(found: RepositoryFiles, folder: Path, told: Callable[[int, int], None]) -> list[Path]:
    """Download files that are not there, checking each before it gets its name; return all paths in order."""
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
        _download(file, target)
        told(done, len(targets))
    return targets


def _download(file: Listed, target: Path) -> None:
    """Download a file unless it is there; it has another name until it is checked."""
    if target.exists():
        return
    part = target.with_name(f"{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as out:
            for piece in _sent(file.url):
                out.write(piece)
                if out.tell() > file.bytes:
                    break
        if not _is(part, file):
            raise DataError(
                f"{file.url}: the file that came is not the one published (its checksum is another), so it "
                "was not kept; try again, and if it stays so, the publisher has changed it"
            )
        part.replace(target)
    except OSError as error:
        raise DataError(f"{target} cannot be written ({error.strerror}); choose another folder") from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _is(path: Path, file: Listed) -> bool:
    """Return whether a file on disk is the listed one."""
    if not path.is_file() or path.stat().st_size != file.bytes:
        return False
    kind, _, digits = file.checksum.partition(":")
    digest = (
        hashlib.sha256()
        if kind == "sha256"
        else hashlib.sha1(f"blob {file.bytes}\0".encode(), usedforsecurity=False)
    )
    with path.open("rb") as content:
        return hashlib.file_digest(content, lambda: digest).hexdigest() == digits


def _json(url: str) -> Any:
    content = b""
    for piece in _sent(url):
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


# Commands

RAFT = "raft"


def fill_fetch(
    fetching: argparse.ArgumentParser,
    published: Mapping[str, Published] = PUBLISHED,
    repositories: Mapping[str, Repository] = REPOSITORIES,
) -> None:
    """Add the arguments of ``fetch``, which offers the `published` files and the `repositories`."""
    names = [*published, *repositories]
    fetching.add_argument("name", choices=names, metavar="NAME", help=f"one of {', '.join(names)}")
    option(fetching, "--to DIR", "default: the working folder", Path, default=Path())
    option(fetching, "--list", "say what there is, with sizes and checksums; download nothing")
    fetching.set_defaults(command=partial(_fetch, published=published, repositories=repositories))


def fill_example(example: argparse.ArgumentParser) -> None:
    """Add the arguments of ``example``."""
    example.add_argument("directory", type=Path, metavar="DIR")
    example.set_defaults(command=lambda chosen: write_files(chosen.directory, example_files()))


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their paths below a folder."""
    with unwritable(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)


def _fetch(
    chosen: argparse.Namespace, published: Mapping[str, Published], repositories: Mapping[str, Repository]
) -> None:
    if chosen.name in repositories:
        _fetch_repository(chosen, repositories[chosen.name])
        return
    wanted = published[chosen.name]
    _say(f"{wanted.bytes / 1e6:.1f} MB from {wanted.url}", f"SHA-256: {wanted.sha256}")
    _say_terms(wanted)
    if not chosen.list:
        print(fetch(wanted, chosen.to))
        print(f"to cite: {wanted.citation}")


def _fetch_repository(chosen: argparse.Namespace, wanted: Repository) -> None:
    found = listing(wanted)
    if chosen.name == RAFT:
        here = {file.path for file in found.files}
        missing = [f"{task}/{kind}.csv" for task in builtin_tasks() for kind in ("train", "test_unlabeled")]
        missing = [path for path in missing if path not in here]
        if missing:
            raise DataError(f"{wanted.name} does not list {listed(missing)} any more; look there")
    files = number(len(found.files), "file")
    _say(f"{files}, {found.bytes / 1e6:.1f} MB, from {wanted.files}, {wanted.name} at {found.commit}")
    for file in found.files:
        _say(f"  {file.bytes:>10,}  {file.checksum}  {file.path}")
    _say_terms(wanted)
    if chosen.list:
        return
    paths = fetch_listed(found, chosen.to, lambda done, of: _say(f"{done} of {of} files are here"))
    if chosen.name == RAFT:
        for task in builtin_tasks().values():
            write_text(chosen.to / task.name / TASK_FILE, task.task_json)
        print(chosen.to)
    else:
        print("\n".join(map(str, paths)))
    print(f"to cite: {wanted.citation}")


def _say_terms(wanted: Published | Repository) -> None:
    _say(f"licence: {wanted.licence}")
    if wanted.warning:
        _say(f"warning: {wanted.warning}")


def _say(*lines: str) -> None:
    for line in lines:
        print(line, file=sys.stderr)
