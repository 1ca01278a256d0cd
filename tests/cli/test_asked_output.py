"""Where a result goes, as what, and how much of it is said; how a command ends."""

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grasp_core import cli
from grasp_core.cli.terminal import messages as lines
from grasp_core.cli.terminal.messages import Lines, counting_down, seconds
from grasp_core.engine.pools import workers
from tests.cli.conftest import write_data
from tests.commands import COLUMNS, ROOT, ran, refused, written

Captured = pytest.CaptureFixture[str]
DATA = ["--annotations", "votes.csv", "--raters", "raters.csv", *COLUMNS]
RUN = ["run", *DATA, "--axis", "race", "--permutations", "200", "--no-pairs"]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the time is, in seconds; no line of progress has been written yet."""
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr(lines, "_SPACED", lines._Spaced())
    return now


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What such a run writes of the data in `folder`."""
    place = tmp_path_factory.mktemp("result")
    with pytest.MonkeyPatch.context() as patch:
        write_data(place)
        patch.chdir(place)
        assert cli.main([*RUN, "-o", "result.json", "-q"]) == 0
    return (place / "result.json").read_bytes()


@pytest.fixture
def saved(folder: Path, result: bytes) -> Path:
    """The working folder, with a saved result."""
    (folder / "result.json").write_bytes(result)
    return folder


def test_standard_output_is_for_programs_where_it_is_asked(folder: Path, capsys: Captured) -> None:
    piped = ran(capsys, *RUN, "-o", "-", "-q")
    assert piped.err == ""
    assert json.loads(piped.out)["format"] == "grasp-run"
    found = ran(capsys, *RUN, "--format", "csv")
    assert {row["axis"] for row in csv.DictReader(io.StringIO(found.out))} == {"race"}
    assert "note: " in found.err
    assert ran(capsys, *RUN, "--format", "markdown", "-q").out.startswith("# ")


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_jq_reads_it(saved: Path) -> None:
    asked = ["jq", "-r", ".groups[] | [.axis[0], .n_raters] | @tsv", "result.json"]
    read = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert all(line.startswith("race\t") for line in read.splitlines())
    assert read


def test_a_saved_result_is_told_and_written_without_a_run(saved: Path, capsys: Captured) -> None:
    told = ran(capsys, "report", "result.json").out
    assert cli.main(["run", "--spec", "result.json", *DATA[:4], "-o", "again.md"]) == 0
    assert told in capsys.readouterr().out  # behind the sentence on the data
    assert cli.main(["report", "result.json", "-o", "told.md"]) == 0
    assert (saved / "told.md").read_bytes() == (saved / "again.md").read_bytes()
    assert cli.main(["report", "result.json", "--format", "json", "-o", "copy"]) == 0
    assert (saved / "copy").read_bytes() == (saved / "result.json").read_bytes()
    for name in ("told.html", "told.xlsx", "told.tex", "told.csv"):
        assert cli.main(["report", "result.json", "-o", name]) == 0
        assert (saved / name).stat().st_size > 500


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["report", "result.json", "-o", "a/b.html"], "there is no folder a"),
        (["report", "votes.csv"], "votes.csv is not JSON"),
        (["compare", "result.json", "votes.csv"], "votes.csv is not JSON"),
        (["report", "none.json"], "none.json cannot be read"),
        (["report", "result.json", "-o", "told.pdf"], "--out takes a file that ends in .json, .csv, .md"),
        (["plan", "--assume", "-o", "plan.xlsx"], "--out takes a file that ends in .json, .csv, .md"),
        (["report", "result.json", "--format", "text", "-o", "x"], "--format text is what is printed"),
        ([*RUN, "--csv", "-", "--format", "json"], "one thing at a time can go to standard output"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value[-3:]),
)
def test_what_cannot_be_written_is_refused(saved, capsys, arguments, sentence) -> None:
    assert sentence in refused(capsys, *arguments)


def test_a_brief_answer_fits_a_terminal(few_example, monkeypatch, capsys) -> None:
    run = ["run", "annotations.csv", "raters.csv", "--axis", "rater_race", "--axis", "rater_age"]
    ran(capsys, *run, "--permutations", "200", "-o", "result.json", "-q")
    for width in (40, 80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        said = ran(capsys, "report", "result.json", "--brief", "-q").out.splitlines()
        assert sum(-(-max(len(line), 1) // width) for line in said) < 25
        table = said[next(place for place, line in enumerate(said) if not line) + 1 : -1]
        assert len(table) > 1
        if width >= 80:
            assert max(map(len, table)) <= width
    assert len(ran(capsys, "report", "result.json", "--no-brief", "-q").out.splitlines()) > 24


def test_a_brief_answer_without_a_difference_has_p_of_each_group(folder, capsys) -> None:
    """Such results have no verdicts to list, and show the table that a run shows as it goes on."""
    rows = [
        (f"i{item}", f"r{rater}", str((7 * item + rater * rater) % 3))
        for item in range(30)
        for rater in range(12)
    ]
    text = "\n".join(["item,rater,label,side", *(f"{i},{r},{k},{'ab'[int(r[1:]) % 2]}" for i, r, k in rows)])
    Path("even.csv").write_text(text, encoding="utf-8")
    said = ran(capsys, "run", "even.csv", "--axis", "side", "--permutations", "200", "--brief", "-q").out
    assert "No difference found" in said
    table = [line.split() for line in said.splitlines() if line.split()[1:2] in (["Group"], ["a"], ["b"])]
    assert "p" in table[0]
    assert len(table) == 3
    assert "…" not in said


def test_tables_fit_the_columns_that_there_are(saved, monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    lines = ran(capsys, "report", "result.json").out.splitlines()
    rows = [line for line in lines if line.startswith(("race ", "Axis ", " Axis"))]
    assert len(rows) > 5
    assert max(map(len, rows)) <= 90


def test_the_answer_is_bold_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert lines.emphasised("clear") == "clear"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    assert lines.emphasised("clear") == "\033[1mclear\033[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert lines.emphasised("clear") == "clear"
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert lines.emphasised("clear") == "clear"


def test_progress_is_a_line_now_and_then_where_no_line_is_written_anew(clock, capsys) -> None:
    shown = Lines()
    for second in range(0, 91, 5):
        clock[0] = 1000.0 + second
        shown.show(["a table", f"{second} of 90 permutations, {seconds(90.0 - second)} left"])
    shown.clear()
    said = capsys.readouterr().err
    assert said == "".join(f"{n} of 90 permutations, {90 - n} s left\n" for n in (30, 60, 90))


def test_the_time_left_follows_from_what_was_taken_and_is_told_as_people_do(clock, capsys) -> None:
    with counting_down() as show:
        for second, share in ((0, 0.0), (40, 0.25), (80, 0.5)):
            clock[0] = 1000.0 + second
            show(share, f"{share:.0%} done")
    assert capsys.readouterr().err == "25% done, 2 min left\n50% done, 80 s left\n"
    assert [seconds(left) for left in (45, 119, 600, 3900)] == ["45 s", "119 s", "10 min", "1 h 5 min"]


def test_what_is_clear_decides_the_exit_code_where_it_is_asked(saved: Path, capsys: Captured) -> None:
    plain: dict[str, Any] = written()
    clear = any((row.get("verdict") or {}).get("code") == "clear" for row in plain["groups"])
    assert cli.main(["report", "result.json"]) == 0
    assert cli.main(["report", "result.json", "--exit-code"]) == int(clear)
    for row in plain["groups"]:
        row["verdict"] = {**(row["verdict"] or {}), "code": "clear"}
    (saved / "clear.json").write_text(json.dumps(plain), encoding="utf-8")
    assert cli.main(["report", "clear.json", "--exit-code"]) == 1
    assert cli.main(["run", "--spec", "clear.json", *DATA[:4], "--exit-code"]) == int(clear)


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["rnu"], "grasp: there is no command 'rnu'; did you mean run?"),
        (["run", "--axsi", "race"], "grasp run: there is no option --axsi; did you mean --axis?"),
        (["run", "--level", "ordnal"], "found 'ordnal'; did you mean ordinal?"),
        (["raft", "scor"], "grasp raft: there is no command 'scor'; did you mean score?"),
        (["report", "a.json", "b.json"], "'b.json' is one word too many"),
        *((one, "grasp") for one in ([], ["fly"], ["example"])),
        (["run", "votes.csv", "--axis", "race", "--permutations", "many"], "grasp"),
        (["run", "votes.csv", "--axis", "race", "--exclude", "removed"], "grasp"),
        (["run", "votes.csv", "--axis", "race", "--preset", "mine"], "grasp"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_unreadable_arguments_show_how_and_misspelt_ones_what_may_be_meant(capsys, arguments, answer) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    said = capsys.readouterr().err.splitlines()
    assert answer in said[0]
    assert len(said) == 2  # never more of the usage than of what is wrong
    assert said[0].startswith("grasp")
    assert said[1].endswith("--help` lists what there is")


def test_files_may_stand_behind_options_and_a_missing_text_of_no_cell_is_named(folder, capsys) -> None:
    assert cli.main(["run", "votes.csv", "--axis", "race", "--permutations", "50", "raters.csv", "-q"]) == 0
    votes = (folder / "votes.csv").read_text(encoding="utf-8")
    (folder / "votes.csv").write_text(f"{votes.rstrip()}\nitem0,r0,N/A\n", encoding="utf-8")
    cli.main(["quality", *DATA, "--missing", "n/a", "--missing", "N/A"])
    said = capsys.readouterr().err
    assert "--missing 'n/a': no cell holds this text alone; did you mean 'N/A'?" in said
    assert "--missing 'N/A'" not in said


def test_intersections_are_beside_the_recognised_axes(few_example: Path) -> None:
    run = ["run", "annotations.csv", "raters.csv", "--permutations", "50", "--no-pairs", "-q"]
    run += ["-o", "result.json"]
    assert cli.main(run) == 0
    alone = written()["spec"]["analysis"]["axes"]
    assert cli.main([*run, "--intersect", "rater_race:rater_gender"]) == 0
    both = written()["spec"]["analysis"]["axes"]
    assert both == [*alone, ["rater_race", "rater_gender"]]


def interrupted(folder: Path, *asked: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, stopped once permutations are counted."""
    command = [sys.executable, "-c", STOPPED, *asked]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **more}
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == cli.INTERRUPTED, ended.stderr
    assert "So far, after " in ended.stdout
    return ended


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_tells_what_is_found_and_keeps_it(folder: Path) -> None:
    """Stopped once permutations are counted, and gone on from there to the digits of a run of one piece."""
    asked = [*RUN[:-3], "--permutations", "100000", "--no-pairs", "--statistics", "irr"]
    stopped = interrupted(folder, *asked, GRASP_HOME=str(folder / "home"))
    assert "Provisional, after " in stopped.stdout
    assert stopped.stderr.splitlines()[-2:] == [
        "note: what was computed is kept: the same command with --resume goes on from there",
        "grasp: stopped",
    ]
    assert list((folder / "home" / "stopped").iterdir())
    whole = [*asked, "-q"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRASP_HOME", str(folder / "home"))
        assert cli.main([*whole, "--resume", "-o", "resumed.csv"]) == 0
        assert cli.main([*whole, "-o", "whole.csv"]) == 0
    assert (folder / "resumed.csv").read_bytes() == (folder / "whole.csv").read_bytes()
    assert not list((folder / "home" / "stopped").iterdir())


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_tells_of_models_what_is_found(folder: Path) -> None:
    lines = (folder / "votes.csv").read_text(encoding="utf-8").splitlines()
    items = dict.fromkeys(line.split(",")[0] for line in lines[1:])
    (folder / "model.csv").write_text(
        "ID,Label\n" + "".join(f"{item},{lines[1].split(',')[2]}\n" for item in items), encoding="utf-8"
    )
    models = ["models", *DATA, "--axis", "race", "--model", "one=model.csv", "--permutations", "100000"]
    assert "one sides " in interrupted(folder, *models).stdout


STOPPED = f"""
import os, runpy
from grasp_core.cli.terminal.progress import RunOnTerminal

check = RunOnTerminal.check

def stop(self, progress):
    if progress.done > 20_000 and not stop.sent:
        stop.sent = True
        os.kill(os.getpid(), {int(signal.SIGINT)})
    check(self, progress)

stop.sent = False
RunOnTerminal.check = stop
runpy.run_module("grasp_core", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (["quality"], "## Overview"),
        (["items", "--group", "race=A"], "## "),
        (["rater-map", "--axis", "race", "--permutations", "50"], "## What axes explain"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_files_without_options_are_told_apart_by_every_command(folder, capsys, arguments, first) -> None:
    command, *more = arguments
    if command == "items":
        more[1] = f"race={(folder / 'raters.csv').read_text(encoding='utf-8').splitlines()[1].split(',')[2]}"
        more += ["--permutations", "50"]
    said = ran(capsys, command, "raters.csv", "votes.csv", *more, "--format", "markdown")
    assert said.out.startswith(first)
    assert "raters.csv: raters, votes.csv: annotations" in said.err


@pytest.mark.usefixtures("few_data_sets")
def test_a_plan_and_a_comparison_are_written_as_it_is_asked(monkeypatch, capsys, saved) -> None:
    monkeypatch.setattr(workers, "processes", workers.threads)  # each of which imports anew
    plan = ["plan", "--assume", "--labels", "2", "--agreement", "0.5", "--size", "40", "--share", "0.5"]
    plan += ["--range-raters", "20:22", "--range-items", "10:12"]
    assert "format" in json.loads(ran(capsys, *plan, "--format", "json", "-q").out)
    every = json.loads(ran(capsys, "compare", "result.json", "result.json", "--format", "json").out)
    assert {row["moved"] for row in every if row["moved"] is not None} == {0}
    assert cli.main(["compare", "result.json", "result.json"]) == 0
    assert "Nothing moved further than noise explains" in capsys.readouterr().out
