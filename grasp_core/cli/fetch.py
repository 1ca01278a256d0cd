"""``fetch`` and ``example``: published data sets from where their authors put them, and a made-up one."""

import argparse
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from grasp_core.benchmark.tasks import TASK_FILE, builtin_tasks
from grasp_core.cli.parser import option
from grasp_core.cli.terminal.output import unwritable, write_text
from grasp_core.model.errors import DataError
from grasp_core.model.text import listed, number
from grasp_core.reading.dataset.example import example_files
from grasp_core.reading.sources.published import (
    PUBLISHED,
    REPOSITORIES,
    Published,
    Repository,
    fetch,
    fetch_listed,
    listing,
)

RAFT = "raft"


def fill_fetch(
    fetching: argparse.ArgumentParser,
    published: Mapping[str, Published] = PUBLISHED,
    repositories: Mapping[str, Repository] = REPOSITORIES,
) -> None:
    """Add the arguments of ``fetch``; it offers what is `published` and the `repositories`."""
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
        print(fetch(chosen.name, chosen.to, published))
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
