"""Where compiled kernels are kept: never what they were before one of their sources changed."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grasp_core.permutation import TAKEN_IN, compiled, sources_digest

AFTER_WARMING = """
import dataclasses, itertools, pickle, sys
import numpy as np
from grasp_core.groups import form_groups
from grasp_core.permutation import compiled
from grasp_core.permutation.kernel import crossed, direct, local, profiles, sparse, sums
from grasp_core.permutation.kernel.digits import adding as digits
from grasp_core.permutation.design import Design, build_design
from grasp_core.panels.items import kernel as items
from grasp_core.panels.items.panel import ItemsAsked, look_at_items
from grasp_core.panels.models import kernel as models
from grasp_core.panels.warm import warm
from grasp_core.spec import AnalysisSpec, RunSpec
from tests.permutation.simulated import DATA_SPEC, dataset, simulate

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
        axes=axes, level=level, cross_negentropy=convention, ties="random", strata=("region",)
    )
    built = build_design(
        annotations, raters, form_groups(raters, axes), spec, dense=dense, tables=tables
    )
    np.savez(sys.argv[1], **built.arrays())
    for design in (built, Design.of_arrays(dict(np.load(sys.argv[1])))):
        compiled.observed(design)
        compiled.shuffled(design, 1, 0, 3)
        tabled = (name for name in ("crossed", "sparse", "digits", "local") if getattr(design, name))
        ways.add(next(tabled, "direct"))
    labels = np.zeros((2, annotations.n_items), np.int32)
    given = models.build_design(annotations, raters, form_groups(raters, axes), spec, labels, dense=dense)
    np.savez(sys.argv[1], **given.arrays())
    for design in (given, models.SidesDesign.of_arrays(dict(np.load(sys.argv[1])))):
        models.observed(design)
        models.shuffled(design, 1, 0, 3)
for level, correction in itertools.product(("nominal", "ordinal"), ("benjamini-hochberg", "max-t")):
    group = form_groups(raters, (("gender", "race"),)).groups[0]
    spec = AnalysisSpec(axes=(group.axes,), level=level, correction=correction, permutations=120)
    of_items = lambda function, tasks: (function(pickle.loads(pickle.dumps(task))) for task in tasks)
    look_at_items(dataset(5, missing=0.3), ItemsAsked(RunSpec(DATA_SPEC, spec), group, 120), of_items)
functions = (direct.evaluate, direct.add_up, crossed.add_up, sparse.add_up, sums.take_ratios)
functions += (local.add_up, digits.add_up, profiles.draw)
functions += (items.terms, items.add_moments, items.add_reached)
functions += (models._evaluate, models._shuffle_and_evaluate)
print([len(function.signatures) for function in functions])
print(ways)
"""
CORE = Path(compiled.__file__).parents[1]
WHERE = (
    "from grasp_core.permutation.kernel.crossed import adding as crossed;"
    "from grasp_core.panels.models import kernel;"
    "print(crossed.add_up._cache.cache_path, kernel._evaluate._cache.cache_path, sep='\\n')"
)


@pytest.mark.parametrize("changed", ["permutation/kernel/counting.py", "statistics/items.py"])
def test_any_changed_source_changes_the_folder(tmp_path: Path, changed: str) -> None:
    for room in TAKEN_IN:
        shutil.copytree(CORE / room, tmp_path / room)
    before = sources_digest(tmp_path)
    assert before == sources_digest()
    (tmp_path / changed).write_text("# another\n", encoding="utf-8")
    assert sources_digest(tmp_path) != before


def compiled_functions(module: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef):
            by = {word for one in node.decorator_list for word in re.findall(r"\w+", ast.unparse(one))}
            if by & {"njit", "borrowing", "inlined"}:
                yield node


def test_compiled_code_takes_nothing_in_that_the_folder_does_not_depend_on() -> None:
    taken = set()
    for source in CORE.rglob("*.py"):
        module = ast.parse(source.read_text(encoding="utf-8"))
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
    rooms = {module.split(".")[1] for module in taken if module.startswith("grasp_core.")}
    assert rooms == set(TAKEN_IN)


def test_kernels_are_kept_in_it_below_the_folder_that_numba_is_given(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WHERE],
        env={"NUMBA_CACHE_DIR": str(tmp_path), "PATH": ""},
        cwd=CORE.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    for path in done.stdout.split():
        assert Path(path).is_relative_to(tmp_path / sources_digest())


@pytest.mark.long
def test_after_warming_nothing_is_compiled_any_more(tmp_path: Path) -> None:
    """In a process of its own; designs as they are built, and as they come to a worker."""
    found = subprocess.run(
        [sys.executable, "-c", AFTER_WARMING, str(tmp_path / "design.npz")],
        cwd=CORE.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    signatures, ways = map(ast.literal_eval, found.stdout.splitlines())
    assert set(signatures) == {1}
    assert ways == {"crossed", "sparse", "digits", "local", "direct"}
