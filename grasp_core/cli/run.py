"""``run``: the main job."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from grasp_core import spec
from grasp_core.cli.analysis import add_groups_and_test, analysis_fields, named_axes
from grasp_core.cli.in_parts import add_in_parts, parts_of
from grasp_core.cli.output import check_target, write_text
from grasp_core.cli.reading import Reading, add_reading, read, read_tables
from grasp_core.engine import workers
from grasp_core.engine.blocks import Progress
from grasp_core.engine.choose import make_pool
from grasp_core.engine.compute import Watcher, compute
from grasp_core.engine.partitioned import compute_in_parts
from grasp_core.engine.pool import Pool
from grasp_core.errors import SettingsError, SpecError
from grasp_core.io.load import Dataset, load
from grasp_core.io.part_plan import workplace
from grasp_core.io.problems import quoted
from grasp_core.io.survey import PartitionedData, survey
from grasp_core.report.saved import RecordedSpec, read_spec, result_json
from grasp_core.report.sentences import answer
from grasp_core.report.stopping import ending, guarantee
from grasp_core.report.tables import table_csv, wide_table
from grasp_core.report.visible import visible
from grasp_core.result import RunResult
from grasp_core.settings import Settings, read_settings
from grasp_core.spec import AnalysisSpec, RunSpec

BESIDE_SPEC = ("annotations", "raters", "out", "csv", "in_parts", "scratch", "engine", "workers")
"""Options that name files, or where is computed, and so may stand beside ``--spec``."""


def add_run(commands: Any) -> None:
    """Add the command to the parser."""
    run = commands.add_parser("run", help="compute every statistic of every group, with permutation tests")
    run.set_defaults(command=_run)
    run.add_argument(
        "--spec",
        type=Path,
        metavar="FILE",
        help="run this spec, or the spec of this result, again; beside it only files and engine are named",
    )
    add_reading(run)
    add_in_parts(run)
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
    output = run.add_argument_group("output")
    output.add_argument("--out", type=Path, metavar="FILE", help="the result as JSON")
    output.add_argument("--csv", type=Path, metavar="FILE", help="the table, a row per group and statistic")


def _add_analysis(group: argparse._ArgumentGroup) -> None:
    add_groups_and_test(group, adaptive=True)
    group.add_argument("--preset", choices=("default", "paper"), help="conventions, see docs/methods.md")
    group.add_argument("--statistics", type=_names, metavar="NAME,...")
    group.add_argument("--gai", type=_names, metavar="IN,CROSS", help="ratio that GAI is (default: irr,xrr)")
    group.add_argument("--cross-negentropy", choices=get_args(spec.CrossNegentropy))
    group.add_argument(
        "--level", choices=get_args(spec.Level), help="of measurement, for IRR and XRR (default: nominal)"
    )


def _run(chosen: argparse.Namespace) -> None:
    for target in (chosen.out, chosen.csv):
        check_target(target)
    started = time.perf_counter()
    chosen.parts = parts_of(chosen.annotations, chosen.in_parts)
    recorded = None if chosen.spec is None else _recorded(chosen)
    found, run_spec = _from_options(chosen) if recorded is None else _from_record(chosen, recorded.spec)
    with workplace(chosen.scratch if chosen.parts else None) as place:
        pool = _pool(chosen)
        try:
            data = _data(chosen, found, run_spec, pool, place)
            if recorded is not None:
                _compare(recorded, data)
            _say_order(data, run_spec)
            load_s = time.perf_counter() - started
            line = _ProgressLine(adaptive=run_spec.analysis.adaptive)
            if isinstance(data, Dataset):
                result = compute(data, run_spec, pool, line, load_s=load_s)
            else:
                result = compute_in_parts(data, run_spec, pool, line, place, load_s=load_s)
        finally:
            pool.close()
            if sys.stderr.isatty():
                print("\r\033[K", end="", file=sys.stderr)
    write_text(chosen.out, result_json(result))
    write_text(chosen.csv, table_csv(result))
    _print(result)


def _data(
    chosen: argparse.Namespace, found: Reading, run_spec: RunSpec, pool: Pool, place: str
) -> Dataset | PartitionedData:
    axes = run_spec.analysis.columns
    if chosen.parts is None:
        return load(found.annotations, found.raters, run_spec.data, axes)
    return survey(chosen.parts, found.raters, run_spec.data, axes, pool.each, place)


def _compare(recorded: RecordedSpec, data: Dataset | PartitionedData) -> None:
    """Say so where the data are not those that the spec was recorded with."""
    dataset = data if isinstance(data, Dataset) else data.dataset
    if recorded.sha256 != dataset.summary.sha256:
        other = visible(f"{', '.join(recorded.files)}, SHA-256 {recorded.sha256}")
        print(
            f"note: the spec was recorded with other data ({other}), so the numbers may differ",
            file=sys.stderr,
        )


def _say_order(data: Dataset | PartitionedData, run_spec: RunSpec) -> None:
    """Ranks follow an order, so say which where nobody has declared one."""
    if run_spec.analysis.level != "ordinal" or run_spec.data.categories is not None:
        return
    dataset = data if isinstance(data, Dataset) else data.dataset
    found = ", ".join(quoted(label) for label in dataset.summary.categories)
    print(f"note: labels are ranked in the order {found}; --categories declares another", file=sys.stderr)


def _pool(chosen: argparse.Namespace) -> Pool:
    settings = Settings() if chosen.engine == "local" else read_settings()
    if chosen.engine == "dask" and not settings.dask_address:
        raise SettingsError(
            "--engine dask needs the scheduler's address in GRASP_DASK_ADDRESS, such as tcp://scheduler:8786"
        )
    return make_pool(settings, workers.threads, chosen.workers)


def _given(chosen: argparse.Namespace) -> dict[str, Any]:
    """The options that were used; those left out are None, and the specs' own defaults hold."""
    return {name: value for name, value in vars(chosen).items() if value is not None and name != "command"}


def _recorded(chosen: argparse.Namespace) -> RecordedSpec:
    beside = {*BESIDE_SPEC, "spec", "parts"}
    given = [f"--{name.replace('_', '-')}" for name in _given(chosen) if name not in beside]
    if given:
        raise SpecError(
            f"--spec says all of what to run: leave out {', '.join(given)}; beside it go only "
            + ", ".join(f"--{name.replace('_', '-')}" for name in BESIDE_SPEC)
        )
    return read_spec(chosen.spec)


def _from_record(chosen: argparse.Namespace, recorded: RunSpec) -> tuple[Reading, RunSpec]:
    parts = {"part": recorded.data.part, "raters_part": recorded.data.raters_part}
    annotations, raters = read_tables({**_given(chosen), **parts})
    return Reading(annotations, raters, recorded.data), recorded


def _from_options(chosen: argparse.Namespace) -> tuple[Reading, RunSpec]:
    given = _given(chosen)
    found = read(given, several=True)
    return found, RunSpec(found.spec, _analysis(given, found))


def _analysis(given: Mapping[str, Any], found: Reading) -> AnalysisSpec:
    fields = analysis_fields(given, found)
    published = found.recipe is not None and found.recipe.paper and not named_axes(given)
    if published and "preset" not in given:
        print("note: the published set-up is run, with the paper's conventions", file=sys.stderr)
    paper = given.get("preset") == "paper" or (published and "preset" not in given)
    return AnalysisSpec(**{**(spec.PAPER_CONVENTIONS if paper else {}), **fields})


class _ProgressLine(Watcher):
    """How far the run is, on a terminal; `adaptive` where it may stop early."""

    def __init__(self, *, adaptive: bool) -> None:
        self.most = "at most " if adaptive else ""

    def check(self, progress: Progress) -> None:
        if sys.stderr.isatty():
            left = progress.seconds_left
            remaining = "" if left is None else f", {left:.0f} s left"
            line = f"{progress.done:,} of {self.most}{progress.total:,} permutations{remaining}"
            print(f"\r\033[K{line}", end="", file=sys.stderr)


def _print(result: RunResult) -> None:
    found = answer(result)
    print(found.headline.plain, end="\n\n")
    for sentence in found.details:
        print(f"- {sentence.plain}")
    print(f"\n{wide_table(result).to_string(index=False)}")
    if result.stopping is not None:
        analysis = result.spec.analysis
        for words in (ending(analysis, result.stopping), guarantee(analysis, result.stopping)):
            print(f"\n{visible(words)}")
    for warning in result.warnings:
        print(f"note: {warning}", file=sys.stderr)


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _at_least_one(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"must be a whole number from 1; found {text!r}")
    return int(text)
