"""``run``, ``report`` and ``compare``: analyse files, with a scratch folder; tell and write results."""

from __future__ import annotations

import argparse
import contextlib
import copy
import io
import time
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import cast

import numpy as np
import pandas as pd

from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.analysis.results import read_result
from grasp_core.cli.on_server import computed, request_for_server_files, run_on_server
from grasp_core.cli.options import (
    add_fields,
    add_groups_and_test,
    add_reading,
    given_options,
    named_axes,
    test_fields,
)
from grasp_core.cli.parser import from_one, option
from grasp_core.cli.reading import note_other_data, read, recorded_spec, sort_files
from grasp_core.cli.terminal.messages import TERMINAL, note, say
from grasp_core.cli.terminal.output import (
    add_output,
    check_ending,
    check_output,
    check_target,
    records,
    safe_csv,
    tables_markdown,
    write_bytes,
    write_output,
)
from grasp_core.cli.terminal.progress import RunOnTerminal
from grasp_core.cli.terminal.results import CLEAR, WIDTH, in_width, say_map, say_result, something_clear
from grasp_core.engine.compute import compute, make_pool
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.run import run_key
from grasp_core.engine.run_request import analysis_of, request_of, say_problems
from grasp_core.engine.watching import Checkpoints
from grasp_core.model.annotations import FloatArray
from grasp_core.model.errors import DataError, GraspError, MissingPackageError, SettingsError
from grasp_core.model.extras import require
from grasp_core.model.groups import AxisSet
from grasp_core.model.result import RunResult
from grasp_core.model.settings import Settings, read_settings
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.model.text import json_text, printable
from grasp_core.notebook.remote import Api, RemoteResult
from grasp_core.permutation.testing.tally import Tally
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.sources import remote
from grasp_core.report.comparison import changes_table
from grasp_core.report.findings.mending import warned
from grasp_core.report.saved import json_in, result_json
from grasp_core.report.tables import lead_table
from grasp_core.report.tidy import table_csv
from grasp_core.report.words.names import what_is_provisional
from grasp_core.version import __version__

FORMATS = ("json", "csv", "markdown", "html", "latex", "xlsx")
_REPORTS = {".html": "html", ".xlsx": "xlsx", ".tex": "latex", ".md": "markdown"}
"""Exports that are reports, by the ending of the file's name."""


def _add_telling(group: argparse._ArgumentGroup) -> None:
    """Add the options for how much is printed, and for the exit status."""
    option(
        group,
        "--brief",
        "print the answer and one table, in fewer than 25 lines (default: on terminals narrower than "
        f"{WIDTH} columns)",
        action=argparse.BooleanOptionalAction,
    )
    option(group, "--exit-code", "end with 1 if a group is clear, otherwise with 0", default=None)


def _check_files(chosen: argparse.Namespace) -> None:
    """Before any work, refuse files that cannot be written and reports of an unknown kind."""
    reports = chosen.report or []
    check_output(chosen, FORMATS)
    for target in reports:
        check_target(target)
        check_ending("--report", target, _REPORTS)
    for target in (*reports, *([] if chosen.out is None else [chosen.out])):
        if target.suffix.lower() == ".html":
            try:
                require("SVG", "figures")
            except MissingPackageError as error:
                note(f"{target.name} will describe its figures and not draw them: {error}")


def _write_files(chosen: argparse.Namespace, result: RunResult, raters: RaterMap | None) -> None:
    """Write every file that was named; `raters` is the map of raters, if it was asked for."""

    def made(name: str) -> bytes:
        from grasp_core.report.writers.registry import EXPORTS  # it loads figures, which runs may not need

        return EXPORTS[name].make(result, raters)

    quick = {"json": partial(result_json, result), "csv": partial(table_csv, result)}
    write_output(chosen, {name: quick.get(name) or partial(made, name) for name in FORMATS})
    for target in chosen.report or ():
        write_bytes(target, made(_REPORTS[target.suffix.lower()]))


BESIDE_SPEC = (
    *("annotations", "raters", "items", "out", "format", "csv", "report", "rater_map", "brief", "exit_code"),
    *("scratch", "resume", "engine", "workers"),
)
"""Options that name files, or the place of computing, and so may be used with ``--spec``."""


def fill_run(run: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    run.set_defaults(command=_run)
    option(
        run,
        "--spec FILE",
        "run this spec, or the spec of this result, again; only files and engine may be named beside it",
        Path,
    )
    add_reading(run, items=True)
    group = run.add_argument_group("analysis")
    add_groups_and_test(group)
    option(group, "--preset", "set of conventions, see docs/methods.md", choices=("default", "paper"))
    fields = ("statistics", "gai", "cross_negentropy", "voting_agreement", "level", "interval", "pairs")
    add_fields(group, AnalysisSpec, *fields, "tail", "slices", "given")
    engine = run.add_argument_group(
        "engine", "where permutations are computed; the digits are the same everywhere"
    )
    option(
        engine,
        "--engine",
        "threads here, or the cluster of GRASP_DASK_ADDRESS (default: that cluster, if it is set)",
        choices=("local", "dask"),
    )
    option(
        engine,
        "--workers N",
        "blocks computed at a time (default: one per core, or per thread of the cluster)",
        from_one,
    )
    kept = engine.add_mutually_exclusive_group()
    option(
        kept,
        "--scratch FOLDER",
        "folder or address that keeps the permutations computed so far: an interrupted run continues from "
        "there when it is started again",
    )
    option(kept, "--resume", "continue a run that was stopped by Ctrl-C, to the same digits", default=None)
    output = run.add_argument_group("output")
    add_output(output, FORMATS, csv="the table, a row per group and statistic")
    option(
        output,
        "--report FILE",
        f"a report of the whole result, as {', '.join(_REPORTS)}; repeat for several",
        Path,
        action="append",
    )
    option(
        output, "--rater-map", "make the map of raters, too: printed, and part of every report", default=None
    )
    _add_telling(output)


def fill_report(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``report``."""
    parser.set_defaults(command=_report, csv=None, report=None)
    what = "a result that `run --out` or the page wrote as JSON; with --server also the id of a run"
    parser.add_argument("result", type=Path, metavar="RESULT", help=what)
    output = parser.add_argument_group("output")
    add_output(output, FORMATS)
    _add_telling(output)


def _run(chosen: argparse.Namespace, api: Api | None = None) -> int:
    _check_files(chosen)
    if api is not None and (lying := request_for_server_files(chosen, api)) is not None:
        there = computed(api, lying)
        for one in there.notes:
            note(one)
        return _tell(chosen, *_of_server(chosen, api, there))
    sort_files(chosen)
    started = time.perf_counter()
    settings = Settings() if chosen.engine == "local" else read_settings()
    if chosen.engine == "dask" and not settings.dask_address:
        raise SettingsError(
            "--engine dask needs the scheduler's address in GRASP_DASK_ADDRESS, such as tcp://scheduler:8786"
        )
    recorded, given = None, given_options(chosen)
    named: tuple[AxisSet, ...] = ()
    if chosen.spec is not None:
        found, recorded = recorded_spec(chosen, BESIDE_SPEC)
        run_spec = recorded.spec
    else:
        found = read(given, several=True)
        named, preset = named_axes(given, found), given.get("preset")
        run_spec = RunSpec(found.spec, analysis_of(found, test_fields(given), named, preset, TERMINAL))
    found, data = found.formed(run_spec.analysis.columns, run_spec.analysis.slices)
    run_spec = replace(run_spec, data=found.spec)
    if recorded is not None:
        note_other_data(recorded, data)
    options = {*given, *(["axes"] if named else [])} if recorded is None else None
    asked = request_of(found, run_spec, data, options, TERMINAL)
    data, run_spec = asked.data, asked.spec
    if not asked.grouping.groups:  # with groups, the result's warnings report them
        say_problems(data, TERMINAL)
    load_s = time.perf_counter() - started
    raters = None
    if api is not None:
        result, raters = _of_server(chosen, api, run_on_server(api, found, given, run_spec))
    else:
        with contextlib.closing(make_pool(settings, workers.threads, chosen.workers)) as pool:
            result = _compute(chosen, data, run_spec, pool, load_s)
            if chosen.rater_map:
                from grasp_core.analysis.rater_map import MapTask, rater_map  # loads eigenvectors, as above

                raters = rater_map(MapTask.of(data, run_spec.analysis), pool.each)
    status = _tell(chosen, result, raters)
    asked.say_afterwards(result.warnings, TERMINAL)
    return status


def _of_server(
    chosen: argparse.Namespace, api: Api, there: RemoteResult
) -> tuple[RunResult, RaterMap | None]:
    return cast("RunResult", there.result), api.rater_map(there.run)[0] if chosen.rater_map else None


def _tell(
    chosen: argparse.Namespace, result: RunResult, raters: RaterMap | None = None, *, shown: bool = True
) -> int:
    """Write the named files, print the result and any map of raters, and return the exit status."""
    _write_files(chosen, result, raters)
    if shown:
        say_result(result, brief=chosen.brief)
    if raters is not None:
        say("\nMap of raters\n")
        say_map(raters, result.spec.analysis.level)
    for warning in warned(result).others:  # the first ones are printed before the answer
        note(str(warning))
    return CLEAR if chosen.exit_code and something_clear(result) else 0


def _compute(
    chosen: argparse.Namespace, data: Dataset, run_spec: RunSpec, pool: Pool, load_s: float
) -> RunResult:
    shown = RunOnTerminal(
        lambda found: lead_table(cast("RunResult", found)), adaptive=run_spec.analysis.adaptive
    )
    key = run_key(data.summary, run_spec, __version__)
    own = str(read_settings().folder / "stopped")
    folder = own if chosen.resume else chosen.scratch
    scratch = None if folder is None else Scratch(folder, key)
    kept = InCaseOfStop()

    def tell(found: RunResult) -> None:
        say_result(found, brief=True)
        say(f"\n{what_is_provisional(found)}")

    try:
        with shown.stopping(tell):
            result = compute(data, run_spec, pool, shown, scratch or kept, load_s=load_s)
    except KeyboardInterrupt:
        with contextlib.suppress(GraspError):  # a folder that cannot be written
            if scratch is not None or kept.keep(Scratch(own, key)):
                again = "--resume" if chosen.scratch is None else "the same --scratch"
                note(f"what was computed is kept: the same command with {again} goes on from there")
        raise
    if scratch is not None:
        scratch.forget()
    return cast("RunResult", result)


_MOST_BYTES = 2**26
"""Most bytes of blocks that are kept in memory in case somebody stops the run; of more, none are kept."""


class InCaseOfStop(Checkpoints):
    """Keeps a run's blocks in memory, to be written if it is stopped; all stages share `room`, in bytes."""

    def __init__(self, room: list[int] | None = None) -> None:
        self._tally: Tally | None = None
        self._blocks: list[tuple[int, FloatArray]] = []
        self._room = [_MOST_BYTES] if room is None else room
        self._too_large = False
        self._stages: dict[int, InCaseOfStop] = {}

    def of_stage(self, number: int) -> Checkpoints:
        """See :class:`~grasp_core.engine.watching.Checkpoints`."""
        return self._stages.setdefault(number, InCaseOfStop(self._room))

    def begin(self, tally: Tally) -> None:
        """See :class:`~grasp_core.engine.watching.Checkpoints`."""
        self._tally = tally

    def computed(self, start: int, values: FloatArray) -> None:
        """See :class:`~grasp_core.engine.watching.Checkpoints`."""
        counting = self._tally is not None and self._tally.counting
        if not (counting or self._too_large):
            self._blocks.append((start, values))
            self._room[0] -= values.nbytes
            self._too_large = self._room[0] < 0
        if counting or self._too_large:
            self._room[0] += sum(block.nbytes for _, block in self._blocks)
            self._blocks.clear()

    def keep(self, scratch: Scratch) -> bool:
        """Write all blocks or counts; return whether there was anything to write."""
        stages = [stage.keep(scratch.of_stage(number)) for number, stage in self._stages.items()]
        if self._tally is None or not (self._tally.counting or self._blocks):
            return any(stages)
        scratch.begin(self._tally)
        for start, values in self._blocks or [(0, np.empty((0, 0)))]:
            scratch.computed(start, values)
        return True


class Scratch(Checkpoints):
    """Keeps a run's blocks, or their counts, in a folder or at an address; unreadable ones are redone."""

    def __init__(self, folder: str, key: str) -> None:
        with remote.in_sentences(folder, "the scratch folder"):
            self._files, self._root = remote.file_system(folder)
            self._files.makedirs(self._root, exist_ok=True)
        self._name = f"{self._root.rstrip('/')}/grasp-{key[:32]}"
        self._tally: Tally | None = None

    def of_stage(self, number: int) -> Scratch:
        """See :class:`~grasp_core.engine.watching.Checkpoints`."""
        stage = copy.copy(self)
        stage._name, stage._tally = f"{self._name}.{number}", None
        return stage

    def counted_before(self) -> bytes | None:
        """See :class:`~grasp_core.engine.watching.Checkpoints`."""
        found = self._read(f"{self._name}.tally")
        return found or None

    def computed_before(self, width: int) -> list[tuple[int, FloatArray]]:
        """See :class:`~grasp_core.engine.watching.Checkpoints`."""
        blocks = []
        for path in self._kept():
            with contextlib.suppress(ValueError, EOFError):
                values = np.load(io.BytesIO(self._read(path)), allow_pickle=False)
                start = int(PurePosixPath(path).stem.rpartition("-")[2])
                blocks += [(start, values)] if values.ndim == 2 and values.shape[1] == width else []
        return blocks

    def begin(self, tally: Tally) -> None:
        """See :class:`~grasp_core.engine.watching.Checkpoints`."""
        self._tally = tally

    def computed(self, start: int, values: FloatArray) -> None:
        """See :class:`~grasp_core.engine.watching.Checkpoints`."""
        if self._tally is not None and self._tally.counting:  # its state includes all blocks
            self._write(f"{self._name}.tally", self._tally.state())
            self._remove(self._kept())
        else:
            file = io.BytesIO()
            np.save(file, values, allow_pickle=False)
            self._write(f"{self._name}-{start}.npy", file.getvalue())

    def forget(self) -> None:
        """Remove the kept files, once the run is done."""
        self._remove(self._kept("*"))

    def _kept(self, those: str = "-*.npy") -> list[str]:
        with remote.in_sentences(self._root, "the scratch folder"):
            self._files.invalidate_cache()
            return [str(path) for path in self._files.glob(f"{self._name}{those}")]

    def _read(self, path: str) -> bytes:
        with contextlib.suppress(Exception):  # every protocol's package has errors of its own
            return bytes(self._files.cat_file(path))
        return b""

    def _write(self, path: str, content: bytes) -> None:
        """Write a file as a whole or not at all: the earlier one stays until the new one is complete."""
        with contextlib.suppress(Exception):
            self._files.pipe_file(f"{path}.unfinished", content)
            self._files.mv(f"{path}.unfinished", path)

    def _remove(self, paths: list[str]) -> None:
        for path in paths:
            with contextlib.suppress(Exception):
                self._files.rm_file(path)


def _report(chosen: argparse.Namespace, api: Api | None = None) -> int:
    _check_files(chosen)
    of_server = api is not None and not chosen.result.exists()
    result = read_result(api.result(str(chosen.result)) if of_server and api else json_in(chosen.result))
    if not isinstance(result, RunResult):
        raise DataError(f"{chosen.result} is {result.kind}; this command tells the results of `run`")
    return _tell(chosen, result, shown=chosen.out is None)


_COMPARED = ("csv", "json", "markdown")
"""Formats that `compare` writes."""
_HEADS = {
    "group": "Group",
    "axis": "Axis",
    "model": "Model",
    "statistic": "Statistic",
    "a": "A",
    "b": "B",
    "moved_interval": "95 % interval of B − A",
}


def fill_compare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.set_defaults(command=_compare)
    parser.add_argument("one", metavar="A", help="a result, as for `report`")
    parser.add_argument("other", metavar="B", help="the result that it is compared with")
    add_output(parser.add_argument_group("output"), _COMPARED, "every value of both, pairs and slices too,")
    option(parser, "--csv FILE", "the same as CSV", Path)


def _compare(chosen: argparse.Namespace, api: Api | None = None) -> None:
    from grasp_core.notebook.opening import compare, opened  # it loads models, which a run does not need

    check_output(chosen, _COMPARED)
    both = (Path(chosen.one), Path(chosen.other))
    found = compare(*(one if api is None or one.exists() else opened(api.result(str(one))) for one in both))
    say("\n" + "\n".join(map(printable, found.answer().split("\n"))))
    for title, table in (
        ("What was asked differently", found.asked()),
        ("How the data differ", found.data()),
    ):
        if not table.empty:
            say(f"\n{title}\n{_printed(table.rename(columns={'what': '', 'a': 'A', 'b': 'B'}))}")
    moved = changes_table(one for one in found.comparison.changes if one.beyond_noise)
    if moved.empty:
        say("\nNothing moved further than noise explains, and no mark changed.")
    else:
        shown = moved[[name for name in _HEADS if name in moved]].rename(columns=_HEADS)
        say(f"\nMoved further than noise explains, or marked otherwise\n{_printed(shown, names=3)}")
    judged = found.verdicts()[["group", "axis", "verdict_a", "verdict_b"]]
    codes = {"verdict_a": "mark_a", "verdict_b": "mark_b"}
    verdicts = found.verdicts().rename(columns=codes).assign(statistic="verdict")
    frames = [frame for frame in (verdicts, found.table(), found.pairs(), found.slices()) if not frame.empty]
    every = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    first = [name for name in ("slice", "pair", "group") if name in every]
    every = every[[*first, *(name for name in every if name not in first)]]
    write_output(
        chosen,
        {
            "csv": lambda: "" if every.empty else safe_csv(every),
            "json": lambda: json_text(records(every)),
            "markdown": lambda: tables_markdown({"Verdicts": judged, "Moved": moved}),
        },
    )


def _printed(table: pd.DataFrame, names: int = 1) -> str:
    return in_width(table.map(lambda cell: printable(str(cell))), names)
