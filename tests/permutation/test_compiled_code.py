"""Where compiled kernels are kept, and that nothing is left from before their sources changed."""

import ast
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from grasp_core.engine.warm import warm, warm_beside
from grasp_core.permutation import jit
from grasp_core.permutation.draw import random_words
from grasp_core.permutation.kernel.counting import words_at
from tests.engine.asking import wait_until

AFTER_WARMING = """
import dataclasses, io, itertools, pickle, sys
import numpy as np
from grasp_core.model.groups import form_groups
from grasp_core.permutation import compiled
from grasp_core.permutation.kernel import columns, crossed, digits, direct, local, profiles, sparse, sums
from grasp_core.permutation.design import Design, build_design
from grasp_core.analysis.items import kernel as items
from grasp_core.analysis.items.panel import ItemsRequest, look_at_items
from grasp_core.analysis.models import kernel as models
from grasp_core.engine.pools.workers import pack, unpack
from grasp_core.engine.warm import warm
from grasp_core.model.spec import AnalysisSpec, RunSpec
from tests.permutation.simulated import CONVENTIONS, DATA_SPEC, dataset, simulate

warm()
ways = set()
for missing, unknown, (dense, tables), convention, level in itertools.product(
    (0.0, 0.3),
    (0.0, 0.1),
    ((None, None), (False, None), (None, False)),
    ("smooth", "paper"),
    ("nominal", "ordinal", "interval", "ratio"),
):
    categories = 14 if unknown else 3
    annotations, raters = simulate(5, items=9, missing=missing, unknown=unknown, categories=categories)
    annotations = dataclasses.replace(annotations, categories=tuple(str(k + 1) for k in range(categories)))
    axes = (("gender",), ("race",), ("gender", "race"))
    spec = AnalysisSpec(
        axes=axes, level=level, **CONVENTIONS[convention], ties="random", strata=("region",)
    )
    built = build_design(
        annotations, raters, form_groups(raters, axes), spec, dense=dense, tables=tables
    )
    for design in (built, unpack(Design, io.BytesIO(pack(built)))):
        compiled.observed(design)
        compiled.shuffled(design, 1, 0, 3)
        tabled = (name for name in ("crossed", "sparse", "digits", "local") if getattr(design, name))
        ways.add(next(tabled, "direct"))
    labels = np.zeros((2, annotations.n_items), np.int32)
    all_labels = np.ones(categories, np.bool_)
    asked = (annotations, raters, form_groups(raters, axes), spec, labels, all_labels)
    given = models.build_design(*asked, dense=dense)
    for design in (given, unpack(models.SidesDesign, io.BytesIO(pack(given)))):
        models.observed(design)
        models.shuffled(design, 1, 0, 3)
for level, correction in itertools.product(("nominal", "ordinal"), ("benjamini-hochberg", "max-t")):
    group = form_groups(raters, (("gender", "race"),)).groups[0]
    spec = AnalysisSpec(axes=(group.axes,), level=level, correction=correction, permutations=120)
    of_items = lambda function, tasks: (function(pickle.loads(pickle.dumps(task))) for task in tasks)
    look_at_items(dataset(5, missing=0.3), ItemsRequest(RunSpec(DATA_SPEC, spec), group, 120), of_items)
functions = (direct.add_up, crossed.add_up, sparse.add_up, sums.take_ratios)
functions += (local.add_up, digits.add_up, profiles.draw)
functions += (items.terms, items.add_moments, items.add_reached)
functions += (models._evaluate, columns.contributions, columns.add_rows)
print([len(function.compiled.signatures) for function in functions])
print(ways)
"""
CORE = jit.CORE
WORDS = """
import numpy as np
from grasp_core.permutation import jit
from grasp_core.permutation.kernel.counting import words_at
jit.WAITING_SECONDS = 0.0
words = words_at(np.uint64(1), np.uint64(2), np.arange(2))
print(words, words_at.is_kept, words_at.compiled._cache.cache_path)
"""
KILLED_WHILE_WARMING = """
import os, signal
from grasp_core.engine.warm import warm_beside
print(warm_beside().pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(
    ("changed", "matters"),
    [
        ("permutation/kernel/counting.py", True),
        ("permutation/kernel/direct.py", True),
        ("permutation/kernel/sparse.py", False),
        ("permutation/testing/families.py", False),
        ("statistics/items.py", True),
        ("statistics/in_group.py", False),
    ],
)
def test_a_changed_source_changes_the_folders_of_what_it_ends_in(
    tmp_path: Path, changed: str, *, matters: bool
) -> None:
    for part in ("permutation", "statistics"):
        shutil.copytree(CORE / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    direct = "grasp_core.permutation.kernel.direct"
    assert jit.sources_digest(direct, tmp_path) == jit.sources_digest(direct)
    with (tmp_path / changed).open("a", encoding="utf-8") as source:
        source.write("# another\n")
    jit.sources_digest.cache_clear()
    assert (jit.sources_digest(direct, tmp_path) != jit.sources_digest(direct)) == matters


COMPILES = {"compiled", "borrowing", "inlined", "making", "whole_sums", "njit"}


def compiled_functions(module: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef):
            by = {word for one in node.decorator_list for word in re.findall(r"\w+", ast.unparse(one))}
            if by & COMPILES:
                yield node


def test_compiled_code_takes_nothing_in_that_the_folder_does_not_depend_on() -> None:
    taken = set()
    for source in CORE.rglob("*.py"):
        text = source.read_text(encoding="utf-8")
        if not re.search(rf"^\s*@.*\b({'|'.join(COMPILES)})\b", text, re.MULTILINE):
            continue
        module = ast.parse(text)
        imported = {
            name.asname or name.name: node.module or ""
            for node in ast.walk(module)
            if isinstance(node, ast.ImportFrom)
            for name in node.names
        }
        for function in compiled_functions(module):
            used = {
                node.id for part in function.body for node in ast.walk(part) if isinstance(node, ast.Name)
            }
            taken |= {imported[name] for name in used & imported.keys()}
    paths = {"/".join(module.split(".")[1:]) for module in taken if module.startswith("grasp_core.")}
    assert paths
    assert all(path.startswith(jit.TAKEN_IN[0]) or f"{path}.py" in jit.TAKEN_IN for path in paths)


def first_words(**environment: str) -> subprocess.CompletedProcess[str]:
    """Draw words in a process of its own."""
    how = {"env": {"PATH": "", **environment}, "cwd": CORE.parent, "capture_output": True, "text": True}
    return subprocess.run([sys.executable, "-c", WORDS], **how, check=True)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A folder that was empty before a process compiled what it needed, and what that process said."""
    folder = tmp_path_factory.mktemp("kernels")
    return folder, first_words(NUMBA_CACHE_DIR=str(folder))


@pytest.fixture
def compiled_before(first: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path) -> tuple[Path, str]:
    """A copy of that folder for a test to change, and the words that were drawn."""
    return shutil.copytree(first[0], tmp_path / "kernels"), first[1].stdout


def test_kernels_are_kept_where_numba_is_told_to_and_whoever_waits_is_told_why(first) -> None:
    folder, done = first
    kept, path = done.stdout.split()[-2:]
    assert kept == "True"
    assert Path(path).is_relative_to(folder / jit.sources_digest("grasp_core.permutation.kernel.counting"))
    assert re.fullmatch(r"note: Preparing the engine, once on this machine: about \d+ s\n", done.stderr)


def _words(stdout: str) -> str:
    """The words that were drawn, without the folder that the kernel is kept in."""
    return stdout.rpartition(" ")[0]


def test_damaged_code_is_compiled_again_and_that_of_another_processor_left_alone(compiled_before) -> None:
    folder, before = compiled_before
    kept = [*folder.rglob("*.nbc")]
    for file in kept:
        file.write_bytes(file.read_bytes()[:100])
    assert _words(first_words(NUMBA_CACHE_DIR=str(folder)).stdout) == _words(before)
    assert kept
    assert all(file.stat().st_size > 100 for file in kept)
    folder, own = compiled_before
    before = {file: file.read_bytes() for file in folder.rglob("*.nbc")}
    other = first_words(NUMBA_CACHE_DIR=str(folder), NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="").stdout
    assert _words(other) == _words(own)
    after = {file: file.read_bytes() for file in folder.rglob("*.nbc")}
    assert before.items() < after.items()
    assert len(list(folder.glob("*/*.kept"))) == 2


def test_without_a_folder_that_can_be_written_kernels_are_compiled_for_the_process_alone(tmp_path) -> None:
    (tmp_path / "file").touch()
    done = first_words(NUMBA_CACHE_DIR=str(tmp_path / "file" / "kernels"))
    assert done.stdout == f"{random_words(1, 2, 2)} True None\n"
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_others_see_that_a_kernel_is_being_compiled_but_not_that_it_is_read(monkeypatch) -> None:
    kernel = words_at
    assert not kernel.is_compiling
    kernel(np.uint64(1), np.uint64(2), np.arange(2))
    with kernel.locked():
        assert kernel.is_compiling
        assert jit.preparing() is None  # its code is there
        monkeypatch.setattr(jit.Kernel, "is_kept", False)
        assert "Preparing the engine" in (jit.preparing() or "")
    assert not kernel.is_compiling


def test_warming_leaves_no_kernel_out() -> None:
    """Else each server that starts would find one missing, and start a process to compile it."""
    warm()
    assert [kernel for kernel in jit.KERNELS if not kernel.is_kept] == []
    assert warm_beside() is None


def test_a_process_that_warms_ends_with_the_one_that_started_it(tmp_path: Path) -> None:
    """Else it would go on for minutes beside the server that takes the killed one's place."""
    command = [sys.executable, "-c", KILLED_WHILE_WARMING]
    environment = {"PATH": os.environ["PATH"], "NUMBA_CACHE_DIR": str(tmp_path)}
    killed = subprocess.run(command, env=environment, cwd=CORE.parent, stdout=subprocess.PIPE, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert killed.stdout
    wait_until(lambda: not Path(f"/proc/{killed.stdout.decode().strip()}").exists())
    assert not list(tmp_path.glob("*/*.kept"))


@pytest.mark.long
def test_after_warming_nothing_is_compiled_any_more(tmp_path: Path) -> None:
    """In a process of its own; designs as they are built, and as they come to a worker."""
    command = [sys.executable, "-c", AFTER_WARMING]
    found = subprocess.run(command, cwd=CORE.parent, capture_output=True, text=True, check=True)
    signatures, ways = map(ast.literal_eval, found.stdout.splitlines())
    assert set(signatures) == {1}
    assert ways == {"crossed", "sparse", "digits", "local", "direct"}
