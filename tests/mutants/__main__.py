"""Mutants: mistakes made on purpose in a copy of the tree, one at a time, each of which a test has to notice.

``python -m tests.mutants`` says for each mutant of ``mutants.toml`` whether its tests catch it. Arguments are
parts of names: ``python -m tests.mutants alpha links``. Tests that fail without the mutant catch nothing, so
they run without it first.
"""

import argparse
import functools
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("mutants.toml")
PACKAGES = ("grasp_core", "pages")
COPIES = 2
"""Copies of the tree that are worked in at a time."""
PASSED, FAILED = 0, 1
"""What pytest ends with; all else is neither."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mistake: the text of some lines, what takes its place, and who should notice."""

    name: str
    old: str
    new: str
    tests: tuple[str, ...]


def read_mutants(wanted: Sequence[str] = ()) -> list[Mutant]:
    """Those of the list whose names have one of these parts, or all."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))["mutant"]
    mutants = [Mutant(one["name"], one["old"], one["new"], tuple(one["tests"])) for one in listed]
    return [one for one in mutants if not wanted or any(part in one.name for part in wanted)]


def place_of(mutant: Mutant, root: Path = ROOT) -> Path:
    """The file that has the mutant's text, below the root.

    Raises
    ------
    LookupError
        If none has it, or it is there more than once; or one of the tests is missing.
    """
    for test in mutant.tests:
        if not (root / test).exists():
            raise LookupError(f"{mutant.name}: there is no {test}")
    sources = [source for package in PACKAGES for source in (root / package).rglob("*.py")]
    counts = {source: source.read_text(encoding="utf-8").count(mutant.old) for source in sources}
    if sum(counts.values()) != 1:
        raise LookupError(f"{mutant.name}: its text is there {sum(counts.values())} times, not once")
    return max(counts, key=counts.__getitem__).relative_to(root)


class Copy:
    """A copy of the tree, in which one mutant at a time is tried."""

    def __init__(self, root: Path) -> None:
        self._root = root
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).exists():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, root / name)
        self._unchanged = functools.cache(self._tried)

    def outcome(self, mutant: Mutant) -> str:
        """Whether the mutant's tests notice it."""
        end, told = self._unchanged(mutant.tests)
        if end != PASSED:
            return f"ERROR: the tests fail without it:\n{told}"
        place = place_of(mutant, self._root)
        source = self._root / place
        source.write_text(
            source.read_text(encoding="utf-8").replace(mutant.old, mutant.new), encoding="utf-8"
        )
        try:
            end, told = self._tried(mutant.tests)
        finally:
            shutil.copy2(ROOT / place, source)
        return {PASSED: "ESCAPED", FAILED: "caught"}.get(end, f"ERROR: pytest ended with {end}:\n{told}")

    def _tried(self, tests: tuple[str, ...]) -> tuple[int, str]:
        """What pytest ended with, and its last words."""
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not browser and not long", *tests]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        done = subprocess.run(
            command, cwd=self._root, env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout[-3000:]


def try_all(mutants: Sequence[Mutant]) -> dict[str, str]:
    """The outcome of each, by name; told as they come."""
    with tempfile.TemporaryDirectory() as folder:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(COPIES):
            copies.put(Copy(Path(folder) / str(number)))

        def tried(mutant: Mutant) -> str:
            copy = copies.get()
            try:
                found = copy.outcome(mutant)
            finally:
                copies.put(copy)
            print(f"{found:8} {mutant.name}", flush=True)
            return found

        with ThreadPoolExecutor(COPIES) as pool:
            return dict(zip([one.name for one in mutants], pool.map(tried, mutants), strict=True))


def main() -> int:
    """Print the table; 0 if all were caught."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("part", nargs="*", help="part of the names of the mutants to try; all by default")
    mutants = read_mutants(parser.parse_args().part)
    try:
        for mutant in mutants:
            place_of(mutant)
    except LookupError as error:
        sys.exit(str(error))
    found = try_all(mutants)
    caught = sum(outcome == "caught" for outcome in found.values())
    print(f"\n{caught} of {len(found)} caught")
    return 0 if caught == len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
