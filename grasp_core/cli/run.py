"""``run``: an analysis of files, and the files that it writes."""

from __future__ import annotations

import argparse
import contextlib
import time
from functools import partial
from pathlib import Path
from typing import cast, get_args

from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.cli.analysis import add_groups_and_test, named_axes, test_fields
from grasp_core.cli.data.options import add_items, add_reading, names
from grasp_core.cli.data.reading import read, say_data, sort_files
from grasp_core.cli.data.recorded import given_options, note_other_data, reading_of, recorded_spec
from grasp_core.cli.entry import CLEAR
from grasp_core.cli.scratch import InCaseOfStop, Scratch
from grasp_core.cli.terminal.messages import VOICE, note, say
from grasp_core.cli.terminal.output import (
    add_output,
    check_output,
    check_target,
    write_bytes,
    write_output,
    write_text,
)
from grasp_core.cli.terminal.progress import RunOnTerminal
from grasp_core.cli.terminal.results import WIDTH, say_map, say_result, something_clear
from grasp_core.engine.compute import compute
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.choose import make_pool
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.request.analysis import (
    analysis_of,
    cohesion_stopping_early,
    say_batches,
    say_level,
    say_order,
    say_shuffles,
    say_teams,
    with_pairs,
)
from grasp_core.engine.request.reading import Reading
from grasp_core.engine.run import checked_groups, run_key
from grasp_core.model import spec
from grasp_core.model.errors import GraspError, MissingPackageError, SettingsError, SpecError
from grasp_core.model.extras import require
from grasp_core.model.result import RunResult
from grasp_core.model.settings import Settings, read_settings
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.report.findings.mending import warned
from grasp_core.report.saved import result_json
from grasp_core.report.tables import lead_table
from grasp_core.report.tidy import table_csv
from grasp_core.report.words.names import what_is_provisional
from grasp_core.version import __version__

FORMATS = ("json", "csv", "markdown", "html", "latex", "xlsx")
_REPORTS = {".html": "html", ".xlsx": "xlsx", ".tex": "latex", ".md": "markdown"}
"""Exports that are reports, by the ends of files' names."""


def add_files(group: argparse._ArgumentGroup) -> None:
    """Add the options that name files."""
    add_output(group, FORMATS)
    group.add_argument("--csv", type=Path, metavar="FILE", help="the table, a row per group and statistic")
    group.add_argument(
        "--report",
        action="append",
        type=Path,
        metavar="FILE",
        help=f"all of the result to read, as {', '.join(_REPORTS)}; repeat for several",
    )
    group.add_argument(
        "--rater-map",
        action="store_true",
        default=None,
        help="place the raters by how they agree, too: printed, and part of every report",
    )
    add_telling(group)


def add_telling(group: argparse._ArgumentGroup) -> None:
    """Add the options that say how much is printed, and how the command ends."""
    group.add_argument(
        "--brief",
        action=argparse.BooleanOptionalAction,
        help="print the answer and one table, in fewer than 25 lines (default: on terminals narrower than "
        f"{WIDTH} columns)",
    )
    group.add_argument(
        "--exit-code",
        action="store_true",
        default=None,
        help="end with 1 where something is clear, with 0 elsewhere",
    )


def check_files(chosen: argparse.Namespace) -> None:
    """Refuse, before any work, files that cannot be written and reports of no known kind.

    Raises
    ------
    DataError, SpecError
    """
    reports = chosen.report or []
    check_output(chosen, FORMATS)
    for target in (chosen.csv, *reports):
        check_target(target)
    for target in reports:
        if target.suffix.lower() not in _REPORTS:
            raise SpecError(f"--report takes a file that ends in {', '.join(_REPORTS)}; found {target.name}")
    for target in (*reports, *([] if chosen.out is None else [chosen.out])):
        if target.suffix.lower() == ".html":
            try:
                require("SVG", "figures")
            except MissingPackageError as error:
                note(f"{target.name} will describe its figures and not draw them: {error}")


def asked_map(chosen: argparse.Namespace, data: Dataset, spec: AnalysisSpec, pool: Pool) -> RaterMap | None:
    """The map of the raters, where it is asked for."""
    if not chosen.rater_map:
        return None
    from grasp_core.analysis.rater_map import MapTask, rater_map  # with eigenvectors, as above

    return rater_map(MapTask.of(data, spec), pool.each)


def write_files(chosen: argparse.Namespace, result: RunResult, raters: RaterMap | None) -> None:
    """Write every file that was named; `raters` is the map of raters, where it was asked for."""

    def made(name: str) -> bytes:
        from grasp_core.report.writers.registry import EXPORTS  # with figures, which other runs need not load

        return EXPORTS[name].make(result, raters)

    quick = {"json": partial(result_json, result), "csv": partial(table_csv, result)}
    write_output(chosen, {name: quick.get(name) or partial(made, name) for name in FORMATS})
    if chosen.csv is not None:
        write_text(chosen.csv, table_csv(result))
    for target in chosen.report or ():
        write_bytes(target, made(_REPORTS[target.suffix.lower()]))


BESIDE_SPEC = (
    *("annotations", "raters", "items", "out", "format", "csv", "report", "rater_map", "brief", "exit_code"),
    *("scratch", "resume", "engine", "workers"),
)
"""Options that name files, or where is computed, and so may stand beside ``--spec``."""


def fill_run(run: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    run.set_defaults(command=_run)
    run.add_argument(
        "--spec",
        type=Path,
        metavar="FILE",
        help="run this spec, or the spec of this result, again; beside it only files and engine are named",
    )
    add_reading(run)
    add_items(run)
    _add_analysis(run.add_argument_group("analysis"))
    engine = run.add_argument_group("engine", "where permutations are computed; no digit depends on it")
    engine.add_argument(
        "--engine",
        choices=("local", "dask"),
        help="threads here, or the cluster of GRASP_DASK_ADDRESS (default: that cluster where it is set)",
    )
    engine.add_argument(
        "--workers",
        type=_at_least_one,
        metavar="N",
        help="blocks computed at a time (default: one per core, or per thread of the cluster)",
    )
    kept = engine.add_mutually_exclusive_group()
    kept.add_argument(
        "--scratch",
        metavar="FOLDER",
        help="folder or address that keeps the permutations computed so far: an interrupted run goes on from "
        "there when it is started again",
    )
    kept.add_argument(
        "--resume",
        action="store_true",
        default=None,
        help="go on from what a run that was stopped by Ctrl-C kept, to the same digits",
    )
    add_files(run.add_argument_group("output"))


def _add_analysis(group: argparse._ArgumentGroup) -> None:
    add_groups_and_test(group)
    group.add_argument("--preset", choices=("default", "paper"), help="conventions, see docs/methods.md")
    group.add_argument("--statistics", type=names, metavar="NAME,...")
    group.add_argument("--gai", type=names, metavar="IN,CROSS", help="ratio that GAI is (default: irr,xrr)")
    group.add_argument("--cross-negentropy", choices=get_args(spec.CrossNegentropy))
    group.add_argument("--voting-agreement", choices=get_args(spec.VotingAgreement))
    group.add_argument(
        "--level", choices=get_args(spec.Level), help="of measurement, for IRR and XRR (default: nominal)"
    )
    group.add_argument(
        "--interval",
        choices=get_args(spec.IntervalTarget),
        help="what intervals are for: other raters and items, or one of the two (default: both)",
    )
    group.add_argument(
        "--pairs",
        action=argparse.BooleanOptionalAction,
        help="hold the groups of each axis against each other two by two (default: unless it takes long)",
    )
    group.add_argument(
        "--tail",
        action="store_true",
        default=None,
        help="take p that fewer than 10 permutations reach from a curve through the tail; marked as fitted",
    )
    group.add_argument(
        "--slice",
        dest="slices",
        action="append",
        metavar="COLUMN",
        help="all groups once more on the items of each value of this column, of the annotations or of "
        "--items; repeat for several",
    )
    group.add_argument(
        "--given",
        action="append",
        metavar="COLUMN",
        help="test the other axes once more with profiles shuffled within this one's values too; repeat for "
        "several",
    )


def _run(chosen: argparse.Namespace) -> int:
    check_files(chosen)
    sort_files(chosen)
    started = time.perf_counter()
    settings = _settings(chosen)
    recorded = None if chosen.spec is None else recorded_spec(chosen, BESIDE_SPEC)
    if recorded is None:
        found, run_spec = _from_options(chosen)
    else:
        found, run_spec = reading_of(chosen, recorded.spec), recorded.spec
    axes, slices = run_spec.analysis.columns, run_spec.analysis.slices
    data = load(found.annotations, found.raters, run_spec.data, axes, items=found.items, slices=slices)
    if recorded is not None:
        note_other_data(recorded, data)
    # What cannot be computed is refused and nothing else said.
    grouping = checked_groups(data, run_spec)
    if grouping.groups and recorded is None and chosen.permutations is None:
        run_spec = cohesion_stopping_early(data, run_spec, VOICE)
    if grouping.groups and recorded is None and chosen.pairs is None:
        run_spec = with_pairs(data, run_spec, VOICE)
    say_data(data, run_spec.data)
    say_order(data, run_spec, VOICE)
    if recorded is None and chosen.level is None:
        say_level(data, VOICE)
    if grouping.groups:
        say_shuffles(data, grouping, run_spec.analysis, VOICE)
    load_s = time.perf_counter() - started
    pool = make_pool(settings, workers.threads, chosen.workers)
    try:
        result = _compute(chosen, data, run_spec, pool, load_s)
        raters = asked_map(chosen, data, run_spec.analysis, pool)
    finally:
        pool.close()
    write_files(chosen, result, raters)
    say_result(result, brief=chosen.brief)
    if raters is not None:
        say("\nMap of raters\n")
        say_map(raters, run_spec.analysis.level)
    for warning in warned(result).others:  # the first stand before the answer
        note(str(warning))
    say_batches(found, run_spec.analysis.columns, data, result.warnings, VOICE)
    if grouping.groups:
        say_teams(found, run_spec.analysis, data, VOICE)
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
    try:
        with shown.stopping():
            result = compute(data, run_spec, pool, shown, scratch or kept, load_s=load_s)
    except KeyboardInterrupt:
        shown.clear()
        if isinstance(shown.latest, RunResult) and shown.latest.permutations:
            say(f"\nSo far, after {shown.latest.permutations:,} permutations:")
            say_result(shown.latest, brief=True)
            say(f"\n{what_is_provisional(shown.latest)}")
        with contextlib.suppress(GraspError):  # a folder that cannot be written
            if scratch is not None or kept.keep(Scratch(own, key)):
                again = "--resume" if chosen.scratch is None else "the same --scratch"
                note(f"what was computed is kept: the same command with {again} goes on from there")
        raise
    finally:
        shown.clear()
    if scratch is not None:
        scratch.forget()
    return cast("RunResult", result)


def _settings(chosen: argparse.Namespace) -> Settings:
    """Those that say where is computed."""
    settings = Settings() if chosen.engine == "local" else read_settings()
    if chosen.engine == "dask" and not settings.dask_address:
        raise SettingsError(
            "--engine dask needs the scheduler's address in GRASP_DASK_ADDRESS, such as tcp://scheduler:8786"
        )
    return settings


def _from_options(chosen: argparse.Namespace) -> tuple[Reading, RunSpec]:
    given = given_options(chosen)
    found = read(given, several=True)
    analysis = analysis_of(found, test_fields(given), named_axes(given, found), given.get("preset"), VOICE)
    return found, RunSpec(found.spec, analysis)


def _at_least_one(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"must be a whole number from 1; found {text!r}")
    return int(text)
