"""Options of the language model baseline, and the model that they name."""

import argparse
import math
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from grasp_core.benchmark.baselines.embedding import Embedder
from grasp_core.benchmark.checkpoints import KeptWork
from grasp_core.benchmark.language_models.answers import Usage, kept_answers
from grasp_core.benchmark.language_models.endpoint import Endpoint
from grasp_core.benchmark.language_models.in_context import InContext, Setting
from grasp_core.benchmark.language_models.model import LanguageModel, LocalModel, ModelAnswer
from grasp_core.benchmark.language_models.prompt import FileTokens, Similarity, cosine_of
from grasp_core.benchmark.tasks import Task
from grasp_core.cli.parser import from_one, option, whole
from grasp_core.cli.terminal.messages import clear_line, note
from grasp_core.model.errors import MissingPackageError, SpecError

ANSWERS = "lm-answers.jsonl"


def add_lm_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of :func:`asked_lm`."""
    model_options(parser)
    asking = parser.add_argument_group("language model: how it is asked")
    option(asking, "--shots N", "examples; default: the task's own number", whole)
    option(asking, "--no-instructions", "name only the classes")
    option(asking, "--random-examples", "examples by chance instead of the most similar ones")


def model_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a model and its address or file."""
    model = parser.add_argument_group("language model", "an endpoint or a file")
    option(model, "--endpoint URL", "OpenAI-compatible, e.g. http://localhost:8000/v1")
    option(model, "--model NAME", "the model's name at the endpoint")
    option(
        model,
        "--chat",
        "ask it as a chat, and take the class that it writes: for models without log-probabilities",
    )
    option(
        model,
        "--key-variable NAME",
        "environment variable with the endpoint's key; default: OPENAI_API_KEY for OpenAI, else none",
    )
    option(model, "--gguf FILE", "a model to compute here, with llama.cpp", Path)
    option(
        model,
        "--tokenizer FILE",
        "tokenizer.json of the endpoint's model; default: a token for every three bytes",
        Path,
    )
    option(model, "--window N", "tokens of a prompt; default: 2048", from_one)
    option(model, "--top-logprobs N", "default: 5, OpenAI's most", from_one, default=5)
    option(model, "--timeout SECONDS", "default: 60", float, default=60.0)
    option(model, "--retries N", "default: 5", whole, default=5)
    option(model, "--parallel N", "questions at a time", from_one, default=1)
    option(
        model,
        "--resume FILE",
        f"answers are kept here and not asked for again; default: {ANSWERS}",
        Path,
        default=Path(ANSWERS),
    )
    for way in ("in", "out"):
        option(model, f"--price-{way} PRICE", "per million tokens", _price, default=0.0)


@contextmanager
def asked_lm(chosen: argparse.Namespace) -> Iterator[tuple[Callable[[Task], InContext], Usage]]:
    """Yield a function that makes the options' baseline for a task, by one model, and the model's usage."""
    semantic = not chosen.random_examples and chosen.shots != 0
    similarity = similarity_or_say() if semantic else None
    with asked(chosen) as (model, answers, usage):

        def make(task: Task) -> InContext:
            setting = Setting(
                task.shots if chosen.shots is None else chosen.shots,
                instructions=not chosen.no_instructions,
                semantic=not chosen.random_examples,
            )
            if setting.instructions and not task.instructions:
                note(f"{task.name} has no instructions; the model is told the classes alone")
            return InContext(model, answers, setting, similarity, lambda _done, _total: None, usage)

        yield make, usage


@contextmanager
def asked(chosen: argparse.Namespace) -> Iterator[tuple[LanguageModel, KeptWork[ModelAnswer], Usage]]:
    """Yield the model that the options name, its answers so far, and its usage, printed at the end."""
    usage = Usage(chosen.price_in, chosen.price_out)
    answers = kept_answers(chosen.resume)
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
        chat=chosen.chat,
        timeout_s=chosen.timeout,
        retries=chosen.retries,
        parallel=chosen.parallel,
    )


def similarity_or_say() -> Similarity:
    """Return the similarity of texts; a MissingPackageError names the option that does without it."""
    try:
        return cosine_of(Embedder())
    except MissingPackageError as error:
        raise MissingPackageError(f"{error}; --random-examples does without") from None


def _price(text: str) -> float:
    price = float(text)
    if not 0 <= price < math.inf:
        raise argparse.ArgumentTypeError("must be a price, 0 or more")
    return price
