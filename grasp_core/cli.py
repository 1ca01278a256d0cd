"""The main job without a browser: ``python -m grasp_core run | example | warm``."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from grasp_core import __version__, spec
from grasp_core.engine import workers
from grasp_core.engine.engine import Engine, Run
from grasp_core.errors import DataError, GraspError
from grasp_core.example import example_files
from grasp_core.io.load import Dataset, load
from grasp_core.io.tables import read_table
from grasp_core.permutation.warm import warm
from grasp_core.report.sentences import answer
from grasp_core.report.tables import table_csv, wide_table
from grasp_core.result import RunResult
from grasp_core.spec import AnalysisSpec, DataSpec, RunSpec

BAD_INPUT = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Returns
    -------
    int
        Exit status: 0, or 2 with one sentence on standard error where the input cannot be used.
    """
    chosen = _parser().parse_args(arguments)
    try:
        chosen.command(chosen)
    except GraspError as error:
        print(f"grasp: {error}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:  # e.g. piped into head: the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("grasp: cancelled", file=sys.stderr)
        return INTERRUPTED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m grasp_core",
        description="Which groups of raters see a task differently, and is it real?",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_run(commands)
    example = commands.add_parser("example", help="write the synthetic example's files")
    example.add_argument("directory", type=Path, metavar="DIR")
    example.set_defaults(command=_example)
    warming = commands.add_parser(
        "warm", help="compile the kernels now, so that the first run starts at once"
    )
    warming.set_defaults(command=lambda _: warm())
    return parser


def _add_run(commands: Any) -> None:
    run = commands.add_parser("run", help="compute every statistic of every group, with permutation tests")
    run.set_defaults(command=_run)
    data = run.add_argument_group("data")
    data.add_argument("--annotations", type=Path, required=True, metavar="FILE")
    data.add_argument("--raters", type=Path, metavar="FILE", help="demographics, a row per rater")
    data.add_argument("--layout", choices=get_args(spec.Layout), default="long")
    data.add_argument("--item", metavar="COLUMN")
    data.add_argument("--rater", metavar="COLUMN")
    data.add_argument("--label", metavar="COLUMN")
    data.add_argument(
        "--profile",
        type=_names,
        default=(),
        metavar="COLUMN,...",
        help="raters-by-items: columns that are no item",
    )
    data.add_argument("--categories", type=_names, metavar="LABEL,...", help="in order; default: those found")
    data.add_argument(
        "--missing",
        action="append",
        default=[],
        metavar="TEXT",
        help="cell text that means no value, as the empty cell does; repeat for several",
    )
    data.add_argument(
        "--exclude",
        type=_condition,
        action="append",
        default=[],
        metavar="COLUMN=VALUE",
        help="leave these raters out",
    )
    analysis = run.add_argument_group("analysis")
    analysis.add_argument("--axis", action="append", default=[], metavar="COLUMN")
    analysis.add_argument("--intersect", action="append", default=[], metavar="COLUMN:COLUMN[:...]")
    analysis.add_argument("--permutations", type=int, default=AnalysisSpec.permutations, metavar="B")
    analysis.add_argument("--seed", type=int, default=AnalysisSpec.seed)
    analysis.add_argument(
        "--preset", choices=("default", "paper"), default="default", help="conventions, see docs/methods.md"
    )
    analysis.add_argument(
        "--min-raters", type=int, default=AnalysisSpec.min_raters, metavar="N", help="smallest group shown"
    )
    analysis.add_argument("--statistics", type=_names, default=spec.STATISTICS, metavar="NAME,...")
    analysis.add_argument(
        "--gai",
        type=_names,
        default=AnalysisSpec.gai,
        metavar="IN,CROSS",
        help="ratio that GAI is (default: irr,xrr)",
    )
    analysis.add_argument(
        "--strata", metavar="COLUMN", help="shuffle profiles only within this axis's values"
    )
    for name, literal in (
        ("p-value", spec.PValue),
        ("cross-negentropy", spec.CrossNegentropy),
        ("ties", spec.Ties),
        ("correction", spec.Correction),
        ("family", spec.Family),
    ):
        analysis.add_argument(f"--{name}", choices=get_args(literal), default=None)
    output = run.add_argument_group("output")
    output.add_argument("--out", type=Path, metavar="FILE", help="the result as JSON")
    output.add_argument("--csv", type=Path, metavar="FILE", help="the table, a row per group and statistic")


def _example(chosen: argparse.Namespace) -> None:
    try:
        chosen.directory.mkdir(parents=True, exist_ok=True)
        for name, content in example_files().items():
            (chosen.directory / name).write_bytes(content)
    except OSError as error:
        raise DataError(f"{chosen.directory}: cannot be written ({error.strerror})") from None


def _run(chosen: argparse.Namespace) -> None:
    for target in (chosen.out, chosen.csv):
        if target is not None and not target.parent.is_dir():
            raise DataError(f"{target}: cannot be written, there is no folder {target.parent}")
        if target is not None and target.is_dir():
            raise DataError(f"{target}: cannot be written, it is a folder; name a file in it")
    run_spec = _spec(chosen)
    started = time.perf_counter()
    dataset = _load(chosen, run_spec)
    result = _compute(dataset, run_spec, load_s=time.perf_counter() - started)
    _write(chosen.out, json.dumps(result.to_dict(), ensure_ascii=False, indent=1, allow_nan=False) + "\n")
    _write(chosen.csv, table_csv(result))
    _print(result)


def _spec(chosen: argparse.Namespace) -> RunSpec:
    conventions = dict(spec.PAPER_CONVENTIONS) if chosen.preset == "paper" else {}
    for name in ("p_value", "cross_negentropy", "ties", "correction", "family"):
        if getattr(chosen, name) is not None:
            conventions[name] = getattr(chosen, name)
    return RunSpec(
        DataSpec(
            layout=chosen.layout,
            item=chosen.item,
            rater=chosen.rater,
            label=chosen.label,
            profile=chosen.profile,
            categories=chosen.categories,
            missing=tuple(dict.fromkeys((*DataSpec.missing, *chosen.missing))),
            exclude=tuple(chosen.exclude),
        ),
        AnalysisSpec(
            axes=(
                *((name,) for name in chosen.axis),
                *(tuple(names.split(":")) for names in chosen.intersect),
            ),
            statistics=chosen.statistics,
            gai=chosen.gai,
            min_raters=chosen.min_raters,
            permutations=chosen.permutations,
            seed=chosen.seed,
            strata=chosen.strata,
            **conventions,
        ),
    )


def _load(chosen: argparse.Namespace, run_spec: RunSpec) -> Dataset:
    annotations = read_table(chosen.annotations)
    raters = None if chosen.raters is None else read_table(chosen.raters)
    return load(annotations, raters, run_spec.data, run_spec.analysis.columns)


def _compute(dataset: Dataset, run_spec: RunSpec, *, load_s: float) -> RunResult:
    engine = Engine(workers.threads)
    try:
        run = engine.submit(dataset, run_spec, load_s=load_s)
        while not run.wait(timeout=0.2):
            _show_progress(run)
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)
        if run.result is None:
            raise GraspError(run.error or "the run was cancelled")
        return run.result
    finally:
        engine.close()


def _show_progress(run: Run) -> None:
    if sys.stderr.isatty():
        done, total, left = run.progress.done, run.progress.total, run.progress.seconds_left
        remaining = "" if left is None else f", {left:.0f} s left"
        print(f"\r\033[K{done:,} of {total:,} permutations{remaining}", end="", file=sys.stderr)


def _print(result: RunResult) -> None:
    found = answer(result)
    print(found.headline.plain, end="\n\n")
    for sentence in found.details:
        print(f"- {sentence.plain}")
    print(f"\n{wide_table(result).to_string(index=False)}")
    for warning in result.warnings:
        print(f"note: {warning}", file=sys.stderr)


def _write(target: Path | None, text: str) -> None:
    if target is None:
        return
    try:
        target.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise DataError(f"{target}: cannot be written ({error.strerror})") from None


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _condition(text: str) -> tuple[str, str]:
    column, equals, value = text.partition("=")
    if not equals or not column:
        raise argparse.ArgumentTypeError(f"write COLUMN=VALUE; found {text!r}")
    return column, value
