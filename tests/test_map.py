"""docs/architecture.md names what there is: every room, and no file or function that is gone."""

from __future__ import annotations

import ast
import re
from itertools import takewhile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MAP = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
_PATH = re.compile(r"`((?:\w+/)+(?:\w+\.py)?|\w+\.py)`")


def section(heading: str) -> str:
    return MAP.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def rooms() -> set[str]:
    found = {path.parent for top in ("grasp_core", "pages") for path in (ROOT / top).rglob("__init__.py")}
    return {f"{path.relative_to(ROOT).as_posix()}/" for path in found}


def test_every_room_stands_in_the_map_once() -> None:
    listed = re.findall(r"^\| `([\w/]+/)` \|", section("The map"), re.MULTILINE)
    assert sorted(listed) == sorted(rooms())


def test_all_files_and_folders_that_are_named_exist() -> None:
    named = set(_PATH.findall(MAP))
    assert len(named) > len(rooms())
    assert {path for path in named if not (ROOT / path).exists()} == set()


@pytest.mark.parametrize(
    "line", re.findall(r"^\| \d+ \| (.+?) \|", section("The way of one annotation"), re.M)
)
def test_each_step_is_where_it_is_said_to_be(line: str) -> None:
    path, *names = re.findall(r"`([^`]+)`", line)
    source = (ROOT / path).read_text(encoding="utf-8")
    assert names
    for name in names:
        assert re.search(rf"^(def|class) {name}\b", source, re.MULTILINE), name


@pytest.mark.parametrize("room", sorted(rooms()))
def test_every_room_says_what_it_is(room: str) -> None:
    assert (ROOT / room / "__init__.py").read_text(encoding="utf-8").startswith('"""')


def imported(room: str) -> set[str]:
    """Other rooms that a room's own modules import, as they are called where the ways to both part."""
    found: set[str] = set()
    for path in (ROOT / room).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                for name in node.names:
                    found |= seen_from(Path(room), f"{node.module}.{name.name}")
    return found


def seen_from(room: Path, module: str) -> set[str]:
    parts = module.split(".")
    folder = list(takewhile(lambda n: (ROOT / Path(*parts[:n])).is_dir(), range(1, len(parts) + 1)))
    there = parts[: len(folder)]
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(there, room.parts, strict=False)))
    return {there[shared]} if 0 < shared < min(len(there), len(room.parts)) else set()


@pytest.mark.parametrize("room", sorted(rooms() - {"grasp_core/", "grasp_core/io/", "pages/"}))
def test_every_room_says_which_others_it_imports(room: str) -> None:
    docstring = ast.get_docstring(ast.parse((ROOT / room / "__init__.py").read_text(encoding="utf-8"))) or ""
    (said,) = re.findall(r"Imports ([^.]+)\.", docstring)
    assert imported(room) <= set(re.findall(r"`(\w+)`", said))
