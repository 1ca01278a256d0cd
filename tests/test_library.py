"""What ``pip install .`` gives: a library that works alone and names what it lacks where it is asked for."""

import json
import os
import re
import subprocess
import sysconfig
import tomllib
import venv
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pandas as pd
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from grasp_core import cli
from grasp_core.model.errors import MissingPackageError
from grasp_core.model.extras import DISTRIBUTION, EXTRAS, has, package, require
from tests.few_items import few_items

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MOST_PACKAGES, MOST_MEGABYTES = 32, 820
READING = "--annotations annotations.csv --raters raters.csv --item item_id --rater rater_id --label label"
WORKS = """\
run {reading} --axis rater_gender --permutations 100 --out a.json --csv a.csv --rater-map \
--report a.html --report a.xlsx --report a.tex --report a.md
quality {reading} --axis rater_gender
items --annotations annotations.csv --raters raters.csv --spec a.json --group rater_gender=Woman
compare a.json a.json
rater-map {reading} --axis rater_gender --permutations 100
models {reading} --axis rater_gender --model-column again=label_of_rule --permutations 100
raft baseline plurality --task task --evaluate loo
"""
PROGRAM = """\
import pandas as pd
import grasp_core as grasp

frames = pd.read_csv("annotations.csv"), pd.read_csv("raters.csv", dtype=str)
found = grasp.analyse(*frames, axes=["rater_gender"], permutations=100, progress=False)
assert found.answer() and len(found.table()) and found.chart("forest").to_dict()
for ending in ("json", "csv", "xlsx", "tex", "md", "html"):
    found.save(f"b.{ending}")
assert grasp.compare(found, grasp.open("b.json")).answer()
assert len(grasp.read("annotations.csv").frame()) == len(frames[0])
assert grasp.quality(*frames, axes=["rater_gender"], progress=False).tables()
assert grasp.map_raters(*frames, result=found).answer()
try:
    grasp.models(*frames, axes=["rater_gender"], baselines=["minilm-names"])
except grasp.DataError as error:
    assert error.code == "missing-package"
else:
    raise AssertionError("there is no such baseline")
"""
REFUSED = [
    ("server", "people list"),
    ("server", "token list"),
    ("server", "log"),
    ("server", "backup file"),
    ("server", "restore file"),
    ("server", "backup-key"),
    ("figures", "rater-map --annotations none.csv --axis a --chart map.png"),
    ("figures", "plan --assume --chart plan.pdf"),
    ("remote", "run --annotations https://127.0.0.1:1/a.csv --axis a"),
    ("remote", "fetch dices-350"),
    ("connectors", "run --from label-studio:https://127.0.0.1:1/projects/3 --axis a"),
    ("connectors", "run --from argilla:https://127.0.0.1:1/one/two --axis a"),
    ("connectors", "run --from hf:one/two --axis a"),
    ("connectors", "run --from sql:sqlite:///here.db?table=t --axis a"),
    ("postgres", "run --from sql:postgresql://127.0.0.1:1/d?table=t --axis a"),
    ("models", "raft baseline tfidf --task task"),
    ("models", "raft baseline minilm-logistic --task task"),
    ("models", "raft baseline lm --task task --random-examples --endpoint http://127.0.0.1:1/v1 --model m"),
    ("models", "models --annotations none.csv --model-baseline minilm-names"),
    ("lm-local", "raft baseline lm --task task --random-examples --gguf none.gguf"),
    ("cluster", f"GRASP_DASK_ADDRESS=tcp://127.0.0.1:1 run {READING} --axis rater_gender -q"),
]
TOKENS = {"LABEL_STUDIO_API_KEY": "t", "ARGILLA_API_KEY": "t", "HF_TOKEN": "t", "PGPASSWORD": "t"}
RUNS = """\
import contextlib, io, json, os, sys
from grasp_core import cli

for arguments in json.load(sys.stdin):
    while "=" in arguments[0]:
        name, _, value = arguments.pop(0).partition("=")
        os.environ[name] = value
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()):
        status = cli.main(arguments)
    print(json.dumps([status, said.getvalue()]))
"""


def wanted(*extras: str) -> set[str]:
    """The packages of this environment that an installation with these extras has, without itself."""
    lists = PROJECT["optional-dependencies"]
    waiting = [*PROJECT["dependencies"], *(line for extra in extras for line in lists[extra])]
    found: dict[str, set[str]] = {}
    while waiting:
        needed = Requirement(waiting.pop())
        name = canonicalize_name(needed.name)
        if name == DISTRIBUTION:
            waiting += [line for extra in needed.extras for line in lists[extra]]
            continue
        new = {"", *needed.extras} - found.setdefault(name, set())
        found[name] |= new
        for line in metadata.requires(name) or () if new else ():
            marker = Requirement(line).marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in new):
                waiting.append(line)
    return found.keys()


def environment(folder: Path, *extras: str) -> Path:
    """The programs of an environment that has those packages alone, as links, and the checkout's command."""
    venv.create(folder, with_pip=False, symlinks=True)
    base = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", vars=base))
    for name in wanted(*extras):
        found = metadata.distribution(name)
        tops = {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}
        for top in tops:
            (packages / top).symlink_to(Path(str(found.locate_file(top))).resolve())
    python = Path(sysconfig.get_path("scripts", vars=base)) / "python"
    subprocess.run([python, ROOT / "tools" / "command.py"], check=True)
    return python.parent


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the library alone."""
    return environment(tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with few items, and a task of the benchmark."""
    folder = tmp_path_factory.mktemp("data")
    for name, content in few_items().items():
        (folder / name).write_bytes(content)
    frame = pd.read_csv(folder / "annotations.csv")
    frame["label_of_rule"] = frame["item_id"].map(frame.groupby("item_id")["label"].first())
    frame.to_csv(folder / "annotations.csv", index=False)
    task = folder / "task"
    task.mkdir()
    (task / "task.json").write_text('{"classes": ["calm", "angry"], "fields": ["Message"]}')
    rows = "".join(f"message {row},{label},{row}\n" for row, label in enumerate(["calm", "angry"] * 3))
    (task / "train.csv").write_text("Message,Label,ID\n" + rows)
    (task / "test_unlabeled.csv").write_text("Message,ID\nthank you,50\n")
    return folder


def ran(
    bare: Path, folder: Path, commands: list[list[str]], code: str = RUNS, **given: str
) -> Iterator[tuple[int, str]]:
    """Status and standard error of each command, one after the other in one process."""
    done = subprocess.run(
        [bare / "python", "-P", "-c", code],
        input=json.dumps(commands),
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **given},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=280,
    )
    for line in done.stdout.splitlines():
        status, said = json.loads(line)
        yield status, said


def test_it_is_light(bare: Path) -> None:
    names = wanted()
    assert len(names) + 1 <= MOST_PACKAGES  # with its own
    assert not names & {"streamlit", "fastapi", "sqlalchemy", "psycopg", "authlib", "scikit-learn"}
    packages = next((bare.parent / "lib").glob("python3*")) / "site-packages"
    blocks = sum(
        path.stat().st_blocks
        for top in packages.iterdir()
        for path in (top.rglob("*") if top.is_dir() else (top,))
    )
    assert blocks * 512 / 2**20 <= MOST_MEGABYTES


def test_every_command_that_needs_no_server_works_and_so_does_python(bare: Path, folder: Path) -> None:
    commands = [line.format(reading=READING).split() for line in WORKS.splitlines()]
    for command, (status, said) in zip(commands, ran(bare, folder, commands, RUNS + PROGRAM), strict=True):
        assert status == 0, (command, said)
    report = (folder / "a.html").read_text("utf-8")
    assert "<svg" not in report
    assert "pip install &#39;grasp-core[figures]&#39;" in report


def test_what_is_missing_is_named_with_the_command_that_brings_it(bare: Path, folder: Path) -> None:
    commands = [line.split() for _, line in REFUSED]
    for (extra, line), (status, said) in zip(REFUSED, ran(bare, folder, commands, **TOKENS), strict=True):
        assert status == cli.BAD_INPUT, (line, said)
        assert re.fullmatch(rf"grasp: [^\n]+: pip install 'grasp-core\[{extra}\]'[^\n]*\n", said), (
            line,
            said,
        )


def test_a_postgresql_address_asks_for_its_driver(tmp_path: Path) -> None:
    programs = environment(tmp_path / "serving", "server")
    url = "postgresql://one@127.0.0.1:1/two"
    ((status, said),) = ran(programs, tmp_path, [["people", "list"]], GRASP_DATABASE_URL=url)
    assert (status, "[postgres]'" in said) == (cli.BAD_INPUT, True)


def test_the_command_runs_the_checkout_wherever_it_is_called(bare: Path, tmp_path: Path) -> None:
    (tmp_path / "grasp_core").mkdir()
    (tmp_path / "grasp_core" / "__init__.py").write_text("raise SystemExit('another one')")
    done = subprocess.run(
        [bare / "grasp", "--version"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == PROJECT["version"]


def test_extras_bring_the_modules_that_they_are_asked_for() -> None:
    unasked = {"httptools", "uvloop", "fsspec"}  # used where they are there, or of the library
    for extra, modules in EXTRAS.items():
        brought: set[str] = set()
        waiting = [*PROJECT["optional-dependencies"][extra]]
        while waiting:
            needed = Requirement(waiting.pop())
            brought.add(canonicalize_name(needed.name))
            brought |= needed.extras & {"distributed"}
            if needed.name == DISTRIBUTION:
                waiting += [line for name in needed.extras for line in PROJECT["optional-dependencies"][name]]
        assert brought - unasked - {DISTRIBUTION} == {canonicalize_name(package(name)) for name in modules}
    assert EXTRAS.keys() == PROJECT["optional-dependencies"].keys()


def test_a_sentence_names_packages_and_the_commands_that_bring_them() -> None:
    assert has("sys", "json")
    require("Nothing", "models", "sys")
    with pytest.raises(
        MissingPackageError, match=r"^X needs the package nowhere: pip install 'grasp-core\[figures\]'$"
    ):
        require("X", "figures", "sys", "nowhere")
    four = ("none1", "none2", "none3", "none4")
    with pytest.raises(MissingPackageError, match="packages none1, none2, none3 and 1 more: "):
        require("X", "server", *four)
