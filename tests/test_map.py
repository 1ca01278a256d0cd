"""docs/architecture.md names what there is: every folder, and no file or function that is gone."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MAP = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
_PATH = re.compile(r"`((?:\w+/)+(?:\w+\.py)?|\w+\.py)`")


def section(heading: str) -> str:
    return MAP.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def folders() -> set[str]:
    found = {path.parent for top in ("grasp_core", "pages") for path in (ROOT / top).rglob("__init__.py")}
    return {f"{path.relative_to(ROOT).as_posix()}/" for path in found}


def test_every_folder_stands_in_the_map_once() -> None:
    listed = re.findall(r"^\| `([\w/]+/)` \|", section("The map"), re.MULTILINE)
    assert sorted(listed) == sorted(folders())


def test_all_files_and_folders_that_are_named_exist() -> None:
    named = set(_PATH.findall(MAP))
    assert len(named) > len(folders())
    assert {path for path in named if not (ROOT / path).exists()} == set()


@pytest.mark.parametrize(
    "line", re.findall(r"^\| \d+ \| (.+?) \|", section("The path of one annotation"), re.M)
)
def test_each_step_is_where_it_is_said_to_be(line: str) -> None:
    path, *names = re.findall(r"`([^`]+)`", line)
    source = (ROOT / path).read_text(encoding="utf-8")
    assert names
    for name in names:
        assert re.search(rf"^(def|class) {name}\b", source, re.MULTILINE), name


@pytest.mark.parametrize("folder", sorted(folders()))
def test_every_folder_says_what_it_is(folder: str) -> None:
    assert (ROOT / folder / "__init__.py").read_text(encoding="utf-8").startswith('"""')


_IMPORT = re.compile(r"^\s*from (\S+) import (\([^)]*\)|.+)", re.MULTILINE)


def private_imports(path: Path) -> list[str]:
    """Modules whose names begin with _ that a file imports from another folder than its own."""
    folder = ".".join(path.relative_to(ROOT).parent.parts)
    named = [
        f"{module}.{one}"
        for module, names in _IMPORT.findall(path.read_text(encoding="utf-8"))
        for one in re.findall(r"(\w+)(?: as \w+)?", names)
    ]
    modules = [
        (re.split(r"\._(?!_|ui\b)", name)[0], name) for name in named if re.search(r"\._(?!_|ui\b)", name)
    ]
    return [name for home, name in modules if home != folder]


def test_private_modules_are_imported_in_their_own_folder_alone() -> None:
    files = [path for top in ("grasp_core", "pages") for path in (ROOT / top).rglob("*.py")]
    assert {f"{path}: {name}" for path in files for name in private_imports(path)} == set()
