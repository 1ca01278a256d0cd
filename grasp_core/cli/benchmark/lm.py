"""Options of the language model baseline, and ``raft tune``: which way of asking suits a task."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from grasp_core.benchmark.baselines.embedding import Embedder
from grasp_core.benchmark.language_models.answers import Answers, Asking, Usage, Watch
from grasp_core.benchmark.language_models.endpoint import Endpoint
from grasp_core.benchmark.language_models.in_context import (
    InContext,
    Setting,
    Trial,
    grid,
    macro_f1_declared,
    paper_sweeps,
    tune,
)
from grasp_core.benchmark.language_models.model import LanguageModel, LocalModel
from grasp_core.benchmark.language_models.prompt import FileTokens, Similarity, cosine_of
from grasp_core.benchmark.tasks import TRAIN_FILE, Task, read_rows, read_task
from grasp_core.cli.benchmark.arguments import whole
from grasp_core.cli.terminal.lines import clear_line, note, show_rows
from grasp_core.model.errors import MissingPackageError, SpecError

ANSWERS = "lm-answers.jsonl"


def add_lm_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of :func:`make_lm`."""
    _model_options(parser)
    asking = parser.add_argument_group("language model: how it is asked")
    asking.add_argument("--shots", type=whole, metavar="N", help="examples; default: the task's own number")
    asking.add_argument("--no-instructions", action="store_true", help="name only the classes")
    asking.add_argument(
        "--random-examples", action="store_true", help="examples by chance instead of the most similar ones"
    )


def fill_tune(tuning: argparse.ArgumentParser) -> None:
    """Add the command ``tune`` to the parser."""
    tuning.set_defaults(command=_tune)
    tuning.add_argument("--task", type=Path, required=True, metavar="TASK_DIR")
    tuning.add_argument("--seed", type=whole, default=1, metavar="N", help="of examples by chance")
    tuning.add_argument(
        "--sweeps", action="store_true", help="the paper's trials, one thing varied at a time, not all 16"
    )
    _model_options(tuning)


def _model_options(parser: argparse.ArgumentParser) -> None:
    model = parser.add_argument_group("language model", "an endpoint or a file")
    model.add_argument("--endpoint", metavar="URL", help="OpenAI-compatible, e.g. http://localhost:8000/v1")
    model.add_argument("--model", metavar="NAME", help="the model's name at the endpoint")
    model.add_argument(
        "--key-variable",
        metavar="NAME",
        help="environment variable with the endpoint's key; default: OPENAI_API_KEY for OpenAI, else none",
    )
    model.add_argument("--gguf", type=Path, metavar="FILE", help="a model to compute here, with llama.cpp")
    model.add_argument(
        "--tokenizer",
        type=Path,
        metavar="FILE",
        help="tokenizer.json of the endpoint's model; default: a token for every three bytes",
    )
    model.add_argument("--window", type=_count, metavar="N", help="tokens of a prompt; default: 2048")
    model.add_argument(
        "--top-logprobs", type=_count, default=5, metavar="N", help="default: 5, OpenAI's most"
    )
    model.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="default: 60")
    model.add_argument("--retries", type=whole, default=5, metavar="N", help="default: 5")
    model.add_argument("--parallel", type=_count, default=1, metavar="N", help="questions at a time")
    model.add_argument(
        "--resume",
        type=Path,
        default=Path(ANSWERS),
        metavar="FILE",
        help=f"answers are kept here and not asked for again; default: {ANSWERS}",
    )
    for way in ("in", "out"):
        model.add_argument(
            f"--price-{way}", type=_price, default=0.0, metavar="PRICE", help="per million tokens"
        )


@contextmanager
def make_lm(chosen: argparse.Namespace, task: Task, watch: Watch | None = None) -> Iterator[InContext]:
    """The language model baseline that the options describe; at the end, what it took is said.

    Raises
    ------
    DataError, SpecError
        If the model cannot be had.
    """
    setting = Setting(
        task.shots if chosen.shots is None else chosen.shots,
        instructions=not chosen.no_instructions,
        semantic=not chosen.random_examples,
    )
    similarity = _similarity() if setting.semantic and setting.shots else None
    with _asked(chosen) as (model, answers, usage):
        yield InContext(model, answers, setting, similarity, watch or show_rows, usage)


@contextmanager
def _asked(chosen: argparse.Namespace) -> Iterator[tuple[LanguageModel, Answers, Usage]]:
    usage = Usage(chosen.price_in, chosen.price_out)
    answers = Answers(chosen.resume)
    with closing(_model(chosen)) as model:
        try:
            yield model, answers, usage
        finally:
            clear_line()
            for sentence in usage.sentences():
                note(sentence)
            if len(answers):
                note(f"answers are kept in {answers.path} and are not asked for again")


def _model(chosen: argparse.Namespace) -> LanguageModel:
    if (chosen.endpoint is None) == (chosen.gguf is None):
        raise SpecError("name one language model: --endpoint URL --model NAME, or --gguf FILE")
    if chosen.gguf is not None:
        return LocalModel(chosen.gguf, window=chosen.window)
    if not chosen.model:
        raise SpecError("name the endpoint's model with --model NAME")
    return Endpoint(
        chosen.endpoint,
        chosen.model,
        key_variable=chosen.key_variable,
        tokens=None if chosen.tokenizer is None else FileTokens(chosen.tokenizer),
        window=chosen.window or 2048,
        top=chosen.top_logprobs,
        timeout_s=chosen.timeout,
        retries=chosen.retries,
        parallel=chosen.parallel,
    )


def _similarity() -> Similarity:
    try:
        return cosine_of(Embedder())
    except MissingPackageError as error:
        raise MissingPackageError(f"{error}; --random-examples does without") from None


def _tune(chosen: argparse.Namespace) -> None:
    task = read_task(chosen.task)
    train = read_rows(chosen.task / TRAIN_FILE, task, labelled=True)
    similarity = _similarity()
    with _asked(chosen) as (model, answers, usage):
        asking = Asking(task, model, answers, similarity, chosen.seed, show_rows, usage)
        if not chosen.sweeps:
            _print(tune(asking, train, grid(len(train.ids)), macro_f1_declared))
            return
        for varied, settings in paper_sweeps(len(train.ids)):
            trials = tune(asking, train, settings, macro_f1_declared)
            clear_line()
            print(f"{varied}:")
            _print(trials)


def _print(trials: list[Trial]) -> None:
    clear_line()
    print("macro-F1  shots  instructions  similar examples")
    for trial in trials:
        words = ["yes" if on else "no" for on in (trial.setting.instructions, trial.setting.semantic)]
        print(f"{trial.score:8.3f}  {trial.setting.shots:5d}  {words[0]:12s}  {words[1]}")


def _price(text: str) -> float:
    price = float(text)
    if not 0 <= price < math.inf:
        raise argparse.ArgumentTypeError("must be a price, 0 or more")
    return price


def _count(text: str) -> int:
    if whole(text) == 0:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return int(text)
