"""Commands import what they need; a shell completes a few words; sources and where they are told."""

import csv
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import grasp_core as grasp
from grasp_core import cli
from tests.commands import COLUMNS, ROOT, refused, write, written
from tests.reading.sources.serving import site

# Imports
ENGINE = {"numba", "sklearn", "sqlalchemy", "scipy.stats", "scipy.special", "altair"}
READERS = {
    "python_calamine",
    "pyreadstat",
    "grasp_core.reading.sandbox.parse",
    "grasp_core.reading.formats.registry",
}


def in_python(folder: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Code in a process of its own."""
    command, environment = [sys.executable, "-c", code, *arguments], {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def loaded(folder: Path, *arguments: str) -> set[str]:
    """Modules in memory when a command has ended."""
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(*sys.modules, file=open('loaded', 'w')))\n"
        "from grasp_core import cli\n"
        "sys.exit(cli.main(sys.argv[1:]))\n"
    )
    in_python(folder, code, *arguments)
    return set((folder / "loaded").read_text("utf-8").split())


NO_LIBRARY = {"numpy", "pandas", "pyarrow", "tqdm", *ENGINE, *READERS}


@pytest.mark.parametrize("asked", ["--help", "--version"])
def test_what_only_tells_imports_no_library(tmp_path: Path, asked: str) -> None:
    assert not loaded(tmp_path, asked) & NO_LIBRARY


def test_importing_the_package_loads_no_library(tmp_path: Path) -> None:
    code = "import sys, grasp_core as grasp; grasp.GraspError, grasp.Filters; print(*sys.modules)"
    found = in_python(tmp_path, code)
    assert not set(found.stdout.split()) & NO_LIBRARY


def test_checking_a_submission_compiles_nothing(tmp_path: Path) -> None:
    files = {
        "tasks/mood/task.json": '{"classes": ["calm", "angry"], "fields": ["Message"]}',
        "tasks/mood/test_unlabeled.csv": "Message,ID\nthank you,50\n",
        "mine/data/mood/predictions.csv": "ID,Label\n50,calm\n",
    }
    write(tmp_path, files)
    assert not loaded(tmp_path, "raft", "validate", "mine", "--tasks", "tasks") & ENGINE


def test_a_run_leaves_reading_to_the_process_that_reads(few_example: Path) -> None:
    files = ("--annotations", "annotations.csv", "--raters", "raters.csv")
    found = loaded(
        few_example, "run", *files, "--axis", "rater_gender", "--permutations", "100", "--no-pairs"
    )
    used = {"numba", "scipy.special"}  # kernels, and Student's quantiles of the intervals
    assert used <= found
    assert not found & ((ENGINE | READERS | {"fsspec"}) - used)


# Completion
ASKED = 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _grasp; printf "%s\\n" "${COMPREPLY[@]}"'


@pytest.fixture(scope="module")
def scripts() -> dict[str, str]:
    """The script of each shell."""
    with pytest.MonkeyPatch.context() as patch:
        said: list[str] = []
        patch.setattr("grasp_core.cli.completion.say", lambda text, end: said.append(text))
        assert [cli.main(["completion", shell]) for shell in ("bash", "zsh", "fish")] == [0, 0, 0]
    return dict(zip(("bash", "zsh", "fish"), said, strict=True))


OFFERED = pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["grasp", "agr"], {"agreement"}),
        (["grasp", "run", "--lev"], {"--level"}),
        (["grasp", "run", "--level", "or"], {"ordinal"}),
        (["grasp", "raft", "val"], {"validate"}),
        (["grasp", "raft", "score", "--ta"], {"--tasks"}),
        (["grasp", "run", "--out", "re"], {"result one.json", "result.json"}),
        (["grasp", "report", "result."], {"result.json"}),
        (["grasp", "run", "--axis", "r"], {""}),
        (["grasp", "completion", ""], {"bash", "zsh", "fish"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    for name in ("result.json", "result one.json"):
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@OFFERED
def test_bash_offers_what_may_follow(results, scripts, words, offered) -> None:
    (results / "script").write_text(f"{scripts['bash']}\n{ASKED}\n", encoding="utf-8")
    ran = subprocess.run(["bash", "script", *words], cwd=results, capture_output=True, text=True, check=True)
    assert set(ran.stdout.split("\n")[:-1]) == offered
    assert ran.stderr == ""


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@OFFERED
def test_fish_offers_what_may_follow(results, scripts, words, offered) -> None:
    (results / "script").write_text(f"{scripts['fish']}\ncomplete -C '{' '.join(words)}'\n", encoding="utf-8")
    asked = ["fish", "--no-config", "script"]
    ran = subprocess.run(asked, cwd=results, capture_output=True, text=True, check=True)
    found = {line.partition("\t")[0].replace("\\ ", " ") for line in ran.stdout.splitlines()}
    assert (found or {""}) == offered
    assert ran.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_script_knows_all_commands(scripts: dict[str, str], shell: str) -> None:
    for command in cli.entry.COMMANDS:
        assert command.name in scripts[shell]
    assert "--no-pairs" in scripts[shell] or "-l no-pairs" in scripts[shell]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_another_shell_reads_its_script(tmp_path: Path, scripts: dict[str, str], shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(scripts[shell], encoding="utf-8")
    subprocess.run([shell, "-n", "script"], cwd=tmp_path, check=True)


# Addresses and databases
@pytest.fixture
def database(folder: Path) -> str:
    """The files in the working folder, as tables."""
    with closing(sqlite3.connect(folder / "lab.db")) as connection, connection:
        for name in ("votes", "raters"):
            head, *rows = csv.reader((folder / f"{name}.csv").read_text("utf-8").splitlines())
            connection.execute(f"CREATE TABLE {name} ({', '.join(head)})")
            connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(head))})", rows)
    connection.close()
    return f"sql:sqlite:///{folder}/lab.db"


OPTIONS = [*COLUMNS, "--axis", "race", "--permutations", "100", "--no-pairs"]


def test_a_run_on_a_database_is_that_on_the_files(database: str, capsys) -> None:
    results = []
    for given in (
        ["--annotations", "votes.csv", "--raters", "raters.csv"],
        ["--from", f"{database}?table=votes", "--raters", f"{database}?table=raters"],
    ):
        assert cli.main(["run", *given, *OPTIONS, "--out", "out.json"]) == 0
        results.append(written("out.json"))
    said = capsys.readouterr().err
    assert f"votes.parquet is what {database}?table=votes holds now, SHA-256 " in said
    plain, fetched = results
    assert plain["groups"] == fetched["groups"]
    assert [file.get("source") for file in plain["data"]["files"]] == [None, None]
    assert [file["source"] for file in fetched["data"]["files"]] == [
        f"{database}?table={name}" for name in ("votes", "raters")
    ]
    table = grasp.read(f"{database}?table=votes")
    assert table.source == f"{database}?table=votes"
    assert table.sha256 == fetched["data"]["files"][0]["sha256"]


def test_a_tool_without_a_token_says_where_it_goes(monkeypatch, capsys) -> None:
    monkeypatch.delenv("LABEL_STUDIO_API_KEY", raising=False)
    said = refused(capsys, "quality", "--from", "label-studio:https://labels.example/projects/3")
    assert "Label Studio asks for a token: put it into LABEL_STUDIO_API_KEY" in said
    said = refused(capsys, "quality", "--from", "sql:mysql://labels.example/votes?table=a")
    assert "PostgreSQL and SQLite are" in said


def test_a_run_on_addresses_is_that_on_the_files(folder: Path, capsys) -> None:
    votes, raters = ((folder / f"{name}.csv").read_bytes() for name in ("votes", "raters"))
    results = []
    with site(votes=votes, raters=raters) as web:
        for start in (folder.as_posix(), f"{web.url}/data", folder.as_uri()):
            given = ["--annotations", f"{start}/votes.csv", "--raters", f"{start}/raters.csv"]
            assert cli.main(["run", *given, *OPTIONS, "--out", "out.json"]) == 0
            result = written("out.json")
            del result["timing"]
            results.append(result)
        assert results[0] == results[1] == results[2]
        assert [file["name"] for file in results[0]["data"]["files"]] == ["votes.csv", "raters.csv"]
        said = refused(capsys, "run", "--annotations", f"{web.url}/nowhere.csv", *OPTIONS)
    assert said == "grasp: nowhere.csv is not at that address; check its spelling"
    said = refused(capsys, "run", "--annotations", "s3://team/votes.csv", *OPTIONS)
    assert "needs the package s3fs: pip install s3fs" in said
