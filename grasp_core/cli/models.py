"""``models``: models as further raters, and whose judgements they reproduce."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grasp_core.cli.analysis import add_groups_and_test, analysis_fields
from grasp_core.cli.output import check_target, write_text
from grasp_core.cli.reading import Reading, add_reading, read
from grasp_core.engine import workers
from grasp_core.engine.pool import Pool
from grasp_core.errors import SpecError
from grasp_core.io.load import Dataset, load
from grasp_core.io.tables import read_table
from grasp_core.raft.raters.from_texts import WITHOUT_EXAMPLES, item_texts, label_items
from grasp_core.raft.raters.labels import ModelLabels, read_model, read_model_column
from grasp_core.raft.raters.result import ModelsResult
from grasp_core.raft.raters.run import Prepared, compute, prepare
from grasp_core.raft.raters.sentences import sentences
from grasp_core.raft.raters.tables import plurality_table, sides_csv
from grasp_core.raft.raters.words import REPRODUCED, SIDES_WITH
from grasp_core.report.visible import json_text, visible
from grasp_core.spec import AnalysisSpec, RunSpec


def add_models(commands: Any) -> None:
    """Add the command to the parser."""
    models = commands.add_parser(
        "models", help="whose judgements models reproduce: each model as one more rater"
    )
    models.set_defaults(command=_models)
    add_reading(models)
    given = models.add_argument_group("models", "several models stand side by side")
    given.add_argument(
        "--model",
        type=_named,
        action="append",
        metavar="NAME=FILE",
        help="a model's labels, a row per item with the columns ID and Label",
    )
    given.add_argument(
        "--model-column",
        type=_named,
        action="append",
        metavar="NAME=COLUMN",
        help="a column of the annotations file as a model, one value per item, such as experts' gold labels",
    )
    given.add_argument(
        "--model-baseline",
        choices=WITHOUT_EXAMPLES,
        action="append",
        help="a baseline that labels the items by their texts (--text)",
    )
    add_groups_and_test(models.add_argument_group("analysis"))
    output = models.add_argument_group("output")
    output.add_argument("--out", type=Path, metavar="FILE", help="the result as JSON")
    output.add_argument(
        "--csv", type=Path, metavar="FILE", help="the table, a row per model, group and statistic"
    )


def _models(chosen: argparse.Namespace) -> None:
    given = {name: value for name, value in vars(chosen).items() if value is not None}
    for target in (chosen.out, chosen.csv):
        check_target(target)
    if not given.keys() & {"model", "model_column", "model_baseline"}:
        raise SpecError(
            "name at least one model: --model NAME=FILE, --model-column NAME=COLUMN or --model-baseline NAME"
        )
    found = read(given)
    analysis = AnalysisSpec(**analysis_fields(given, found))
    dataset = load(found.annotations, found.raters, found.spec, analysis.columns)
    models = _read_models(given, found, dataset)
    result = _compute(prepare(dataset, RunSpec(found.spec, analysis), models))
    write_text(chosen.out, json_text(result.to_dict()))
    write_text(chosen.csv, sides_csv(result))
    _print(result)


def _read_models(given: Mapping[str, Any], found: Reading, dataset: Dataset) -> list[ModelLabels]:
    models = [
        read_model(read_table(Path(path)), name, dataset, found.spec) for name, path in given.get("model", ())
    ]
    models += [
        read_model_column(found.annotations, column, name, dataset, found.spec)
        for name, column in given.get("model_column", ())
    ]
    for name in given.get("model_baseline", ()):
        job = item_texts(found.annotations, found.spec, dataset.summary.categories, name)
        models.append(read_model(label_items(job), name, dataset, found.spec))
    return models


def _compute(prepared: Prepared) -> ModelsResult:
    """On threads: the kernel releases the interpreter's lock."""
    total = prepared.spec.analysis.permutations

    def show(done: int) -> None:
        if sys.stderr.isatty():
            print(f"\r\033[K{done:,} of {total:,} permutations", end="", file=sys.stderr)

    pool = Pool(workers.threads)
    try:
        return compute(prepared, pool.each, show)
    finally:
        pool.close()
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)


def _print(result: ModelsResult) -> None:
    for sentence in sentences(result):
        print(f"- {visible(sentence.plain)}")
    print(
        f"\nMacro-F1 against each group's own plurality\n{plurality_table(result).to_string(index=False)}\n"
    )
    print(SIDES_WITH)
    print(REPRODUCED)
    for warning in result.warnings:
        print(f"note: {visible(warning)}", file=sys.stderr)


def _named(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise argparse.ArgumentTypeError(f"write NAME=FILE or NAME=COLUMN; found {text!r}")
    return name, value
