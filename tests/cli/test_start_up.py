"""A command imports what it needs: what takes long to load is loaded by those commands alone that use it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.few_items import few_items

ROOT = Path(__file__).parents[2]
ENGINE = {"numba", "sklearn", "sqlalchemy", "scipy.stats", "scipy.special", "altair"}
READERS = {
    "python_calamine",
    "pyreadstat",
    "grasp_core.reading.sandbox.parse",
    "grasp_core.reading.formats.registry",
}


def loaded(folder: Path, *arguments: str) -> set[str]:
    """Modules in memory when a command has ended."""
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(*sys.modules, file=open('loaded', 'w')))\n"
        "from grasp_core import cli\n"
        "sys.exit(cli.main(sys.argv[1:]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set((folder / "loaded").read_text("utf-8").split())


@pytest.mark.parametrize("asked", ["--help", "--version"])
def test_what_only_tells_imports_no_library(tmp_path: Path, asked: str) -> None:
    assert not loaded(tmp_path, asked) & {"numpy", "pandas", "pyarrow", *ENGINE, *READERS}


def test_importing_the_package_loads_no_library(tmp_path: Path) -> None:
    code = "import sys, grasp_core as grasp; grasp.GraspError, grasp.Filters; print(*sys.modules)"
    environment = {"PYTHONPATH": str(ROOT)}
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not set(found.stdout.split()) & {"numpy", "pandas", "pyarrow", "tqdm", *ENGINE, *READERS}


def test_checking_a_submission_compiles_nothing(tmp_path: Path) -> None:
    for name, content in {
        "tasks/mood/task.json": '{"classes": ["calm", "angry"], "fields": ["Message"]}',
        "tasks/mood/test_unlabeled.csv": "Message,ID\nthank you,50\n",
        "mine/data/mood/predictions.csv": "ID,Label\n50,calm\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, "utf-8")
    assert not loaded(tmp_path, "raft", "validate", "mine", "--tasks", "tasks") & ENGINE


def test_a_run_leaves_reading_to_the_process_that_reads(tmp_path: Path) -> None:
    for name, content in few_items().items():
        (tmp_path / name).write_bytes(content)
    files = ("--annotations", "annotations.csv", "--raters", "raters.csv")
    found = loaded(tmp_path, "run", *files, "--axis", "rater_gender", "--permutations", "100")
    used = {"numba", "scipy.special"}  # kernels, and Student's quantiles of the intervals
    assert used <= found
    assert not found & ((ENGINE | READERS | {"fsspec"}) - used)
