"""``models``: models as further raters, and the groups whose judgements they reproduce."""

import argparse
from contextlib import closing
from pathlib import Path
from typing import cast

from grasp_core.analysis.models.labels import MAX_MODEL_FILE
from grasp_core.analysis.models.result import ModelsResult
from grasp_core.benchmark.baselines.registry import WITHOUT_EXAMPLES, check_installed
from grasp_core.cli import options
from grasp_core.cli.on_server import run_on_server
from grasp_core.cli.parser import option
from grasp_core.cli.reading import read, sort_files
from grasp_core.cli.terminal.messages import TERMINAL, emphasised, note, say, say_list
from grasp_core.cli.terminal.output import add_output, check_output, tables_markdown, write_output
from grasp_core.cli.terminal.progress import RunOnTerminal
from grasp_core.cli.terminal.results import fitted
from grasp_core.engine.compute import compute
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.model.errors import SpecError
from grasp_core.model.sizes import check_size
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.model.text import json_text, printable
from grasp_core.notebook.models import of_models
from grasp_core.notebook.remote import Api
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from grasp_core.report.account import how_it_ended
from grasp_core.report.models import answer, plurality_table, sides_csv
from grasp_core.report.words.names import REPRODUCED, SIDES_WITH

FORMATS = ("json", "csv", "markdown", "html")
_PLURALITY = "Macro-F1 against each group's own plurality"


def fill_models(models: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    models.set_defaults(command=_models)
    options.add_reading(models)
    given = models.add_argument_group("models", "several models stand side by side")
    option(
        given,
        "--model NAME=FILE",
        "a model's labels, a row per item with the columns ID and Label",
        _named,
        action="append",
    )
    option(
        given,
        "--model-column NAME=COLUMN",
        "a column of the annotations file as a model, one value per item, such as experts' gold labels",
        _named,
        action="append",
    )
    option(
        given,
        "--model-baseline",
        "a baseline that labels the items by their texts (--text)",
        choices=WITHOUT_EXAMPLES,
        action="append",
    )
    options.add_groups_and_test(models.add_argument_group("analysis"))
    output = models.add_argument_group("output")
    add_output(output, FORMATS, csv="the table, a row per model, group and statistic")


def _models(chosen: argparse.Namespace, api: Api | None = None) -> None:
    sort_files(chosen, "models")
    given = options.given_options(chosen)
    check_output(chosen, FORMATS)
    if not given.keys() & {"model", "model_column", "model_baseline"}:
        raise SpecError(
            "name at least one model: --model NAME=FILE, --model-column NAME=COLUMN or --model-baseline NAME"
        )
    baselines = given.get("model_baseline", ())
    for name in baselines:
        check_installed(name)
    found = read(given)
    analysis = AnalysisSpec(**options.analysis_fields(given, found))
    paths = given.get("model", ())
    labels = ((name, _labels_of(Path(path))) for name, path in paths)
    named = given.keys() | ({"axes"} if options.named_axes(given, found) else set())
    asked, tables = of_models(
        found, analysis, labels, given.get("model_column", ()), baselines, named, TERMINAL
    )
    if api is None:
        result = _compute(asked.data, asked.spec)
    else:
        brought = {name: (dict(paths).get(name), table) for name, table in tables.items()}
        result = cast("ModelsResult", run_on_server(api, found, given, asked.spec, brought).result)
    write_output(
        chosen,
        {
            "json": lambda: json_text(result.to_dict()),
            "csv": lambda: sides_csv(result),
            "markdown": lambda: tables_markdown({_PLURALITY: plurality_table(result)}),
            "html": lambda: _report(result),
        },
    )
    _print(result)
    asked.say_afterwards(result.warnings, TERMINAL)


def _report(result: ModelsResult) -> str:
    from grasp_core.report.writers.registry import MODELS_EXPORTS  # it loads altair

    return MODELS_EXPORTS["html"](result)


def _labels_of(path: Path) -> Table:
    if path.is_file():
        check_size(path.stat().st_size, MAX_MODEL_FILE, path.name, "a model's labels")
    return read_table(path)


def _compute(dataset: Dataset, spec: RunSpec) -> ModelsResult:
    """Compute the run on threads: the kernel releases the interpreter's lock."""
    shown = RunOnTerminal(
        lambda found: plurality_table(cast("ModelsResult", found)), adaptive=spec.analysis.adaptive
    )
    with closing(Pool(workers.threads)) as pool, shown.stopping(_print):
        return cast("ModelsResult", compute(dataset, spec, pool, shown))


def _print(result: ModelsResult) -> None:
    found = answer(result)
    say(f"\n{emphasised(printable(found.headline.plain))}", end="\n\n")
    say_list(found.details)
    say(f"\n{_PLURALITY}\n{fitted(plurality_table(result), 3)}\n")
    say(SIDES_WITH)
    say(REPRODUCED)
    for words in how_it_ended(result):
        say(f"\n{printable(words)}")
    for warning in result.warnings:
        note(printable(str(warning)))


def _named(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise argparse.ArgumentTypeError(f"write NAME=FILE or NAME=COLUMN; found {text!r}")
    return name, value
