"""The package as it is built and installed: a program, types, and all files that it needs at run time."""

import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from grasp_core import __version__

ROOT = Path(__file__).parents[1]
SCRIPT = """\
import numpy as np
import numpy.typing as npt
import grasp_core as grasp
annotations, raters = grasp.load_example()
analysis = grasp.analyse(annotations, raters, axes=raters.columns[1:], item=None, seed=np.int64(3))
reveal_type(analysis.table(order="q"))
wide = annotations.pivot(index="rater_id", columns="item_id", values="label")
kappa: float = grasp.statistics.cohen_kappa(wide.iloc[0], wide.iloc[1])
def unanimous(group: npt.NDArray[np.int64], others: npt.NDArray[np.int64]) -> float:
    return float((group.max(axis=1) == group.sum(axis=1)).mean())
names = annotations["label"].unique()
grasp.permutation_test(annotations, raters, statistic=unanimous, axes="rater_age", categories=names).table()
grasp.items(annotations, raters, result=analysis, group={"rater_age": 30}).table("distance")
grasp.plan(assumed=grasp.Assumed(labels=3, agreement=0.3), size=10, seed=None).recruitment()
server = grasp.connect("https://grasp.example.org", None)
server.compare(server.analyse(annotations, raters, axes=["age"]), server.runs()["id"].iloc[0]).moved()
grasp.analyse("annotations.csv", axes=["gender"], permutation=100)
"""


def run(*command: str | Path, folder: Path) -> str:
    done = subprocess.run(
        list(map(str, command)), cwd=folder, capture_output=True, text=True, check=False, timeout=280
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with wheel and sdist, built without a network from the files that Git has."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    ignored = shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc")
    shutil.copytree(ROOT / "grasp_core", source / "grasp_core", ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, source)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", target, source, folder=source)
    return target


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment with the wheel, and all others of this one's packages."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    purelib = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = wheel.namelist()
    assert names
    run(
        *(sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install", "--no-deps"),
        *("--no-index", "--quiet", next(built.glob("*.whl"))),
        folder=folder,
    )
    (purelib / "beside.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    return folder / "bin"


def test_wheel_and_sdist_hold_what_the_package_needs(built: Path) -> None:
    ours = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "grasp_core").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".nbi", ".nbc")
    }
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        assert ours <= set(wheel.namelist())
        others = {name.partition("/")[0] for name in wheel.namelist()}
    assert others == {"grasp_core", f"grasp_core-{__version__}.dist-info"}
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        inside = {name.partition("/")[2] for name in sdist.getnames()}
    assert ours | {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml"} <= inside
    assert {"grasp_core/py.typed", "grasp_core/store/migrations/script.py.mako"} <= ours


def test_the_checkout_s_command_has_the_metadata_of_a_wheel(built: Path) -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "command.py"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        whole = wheel.read(name).decode()
    assert facts("\n".join(tool["metadata"](project))) == facts(whole)


def facts(text: str) -> set[tuple[str, str]]:
    """What pip reads of a METADATA file; requirements in one form."""
    found = set()
    for line in text.partition("\n\n")[0].splitlines():
        key, _, value = line.partition(": ")
        if key == "Requires-Dist":
            needed = Requirement(value)
            markers = set(re.split(r" and ", re.sub(r"[()]", "", str(needed.marker or ""))))
            value = f"{needed.name} {sorted(needed.extras)} {needed.specifier} {sorted(markers)}"
        elif key == "Requires-Python":
            value = str(SpecifierSet(value))
        if key in ("Name", "Version", "Requires-Python", "Requires-Dist", "Provides-Extra"):
            found.add((key, value))
    return found


def test_the_program_runs_outside_of_the_repository(installed: Path, tmp_path: Path) -> None:
    assert run(installed / "grasp", "--version", folder=tmp_path).strip() == __version__
    run(installed / "grasp", "example", "here", folder=tmp_path)
    where = run(installed / "python", "-c", "import grasp_core; print(grasp_core.__file__)", folder=tmp_path)
    assert Path(where.strip()).is_relative_to(installed.parent)
    store = (
        "from sqlalchemy import make_url; from grasp_core.store.database import connect; "
        "connect(make_url('sqlite:///grasp.db')).dispose()"
    )
    run(installed / "python", "-c", store, folder=tmp_path)  # by the migrations
    assert (tmp_path / "grasp.db").stat().st_size > 0


@pytest.mark.long
def test_programs_that_use_it_have_its_types(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-executable", installed / "python", "script.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert 'script.py:6: note: Revealed type is "pandas.' in done.stdout
    assert 'script.py:17: error: Unexpected keyword argument "permutation"' in done.stdout
    assert "Found 1 error" in done.stdout


@pytest.mark.long
@pytest.mark.skipif(find_spec("pyright") is None, reason="pyright is not installed")
def test_editors_that_ask_pyright_have_its_types(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT, "utf-8")
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}', "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", installed / "python", "script.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert 'script.py:6:13 - information: Type of "analysis.table(order="q")" is "DataFrame"' in done.stdout
    assert 'script.py:17:51 - error: No parameter named "permutation"' in done.stdout
    assert "1 error, 0 warnings" in done.stdout
