"""``raft baseline`` and ``raft tune``: labels and scores of a baseline, and its best settings for a task."""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from grasp_core.benchmark.baselines.classical import PUBLISHED, Baseline, Boosting, Texts, fit_adaboost
from grasp_core.benchmark.baselines.embedding import Embedder
from grasp_core.benchmark.baselines.registry import BASELINES, LM, SPREADING, check_installed, make_baseline
from grasp_core.benchmark.checkpoints import RetrievalProgram, Retrieve, kept_texts, with_retrieved
from grasp_core.benchmark.language_models.answers import Asking, Usage
from grasp_core.benchmark.language_models.in_context import Trial, grid, macro_f1_declared, paper_sweeps, tune
from grasp_core.benchmark.scoring import all_tasks
from grasp_core.benchmark.scoring.evaluate import (
    BLOCK,
    Way,
    boosting_grid,
    boosting_sweeps,
    evaluate,
    evaluation_json,
    kept_trials,
    label_rows,
    tune_boosting,
)
from grasp_core.benchmark.scoring.scores import score
from grasp_core.benchmark.submissions import PREDICTIONS, read_gold, read_submission
from grasp_core.benchmark.tasks import TEST_FILE, TRAIN_FILE, Task, TaskRows, read_rows, read_task, read_tasks
from grasp_core.cli.benchmark.lm import (
    ANSWERS,
    add_lm_options,
    asked,
    asked_lm,
    model_options,
    similarity_or_say,
)
from grasp_core.cli.benchmark.raft import TASKS, add_all_tasks
from grasp_core.cli.benchmark.score import print_scores
from grasp_core.cli.parser import from_one, option, whole
from grasp_core.cli.terminal.messages import clear_line, clearing, note, show_line, show_rows
from grasp_core.cli.terminal.output import check_target, write_text
from grasp_core.model.errors import DataError, GraspError, SpecError
from grasp_core.model.text import listed, number


def fill_baseline(parser: argparse.ArgumentParser) -> None:
    """Add the command ``baseline`` to the parser."""
    parser.epilog = "; ".join(f"{name}: {words[0].lower()}{words[1:]}" for name, words in BASELINES.items())
    parser.set_defaults(command=_baseline)
    parser.add_argument("name", choices=list(BASELINES), metavar="NAME", help=", ".join(BASELINES))
    add_all_tasks(parser, "written as a submission")
    option(parser, "--gold GOLD_DIR", "for --all: score it too, against <task>/test.csv", Path)
    option(
        parser,
        "--evaluate loo|splits|FILE.csv",
        f"score it: leave-one-out or repeated splits of {TRAIN_FILE}, or another labelled file",
    )
    option(parser, "--seed N", "default: 1", whole, default=1)
    option(
        parser,
        "--out FILE",
        f"scores as JSON, or labels (default: {PREDICTIONS}); with --all the submission's folder "
        "(default: NAME), which the same command goes on with",
        Path,
    )
    group = parser.add_argument_group("adaboost", "as published, unless told otherwise")
    option(group, "--trees N", f"default: {PUBLISHED.trees}", from_one)
    option(group, "--depth N", f"default: {PUBLISHED.depth}", from_one)
    option(group, "--learning-rate RATE", "default: 1", _positive)
    group = parser.add_argument_group("retrieval", "texts from elsewhere, for any baseline")
    option(
        group,
        "--retrieve COMMAND",
        "a program that is given each row as JSON and writes a text, which becomes one more field",
    )
    option(
        group,
        "--retrieved FILE",
        "texts are kept here and not asked for again; default: retrieved.jsonl",
        Path,
        default=Path("retrieved.jsonl"),
    )
    add_lm_options(parser)


def _positive(text: str) -> float:
    rate = float(text)
    if not 0 < rate < float("inf"):
        raise argparse.ArgumentTypeError("must be a number above 0")
    return rate


def _baseline(chosen: argparse.Namespace) -> None:
    _check(chosen)
    if chosen.all:
        _label_all(chosen)
        return
    out = chosen.out if chosen.out is not None or chosen.evaluate else Path(PREDICTIONS)
    check_target(out)
    task = read_task(chosen.task)
    retrieve = _retrieve(chosen)
    train, wider = _with(retrieve, read_rows(chosen.task / TRAIN_FILE, task, labelled=True), task)
    if chosen.evaluate is None:
        test, _ = _with(retrieve, read_rows(chosen.task / TEST_FILE, task, labelled=False), task)
        with _timed(), _maker(chosen) as (make, _), clearing():
            labels = label_rows(
                make(wider, test.texts),
                train,
                wider,
                test.texts,
                seed=chosen.seed,
                watch=show_rows,
                block=_block(chosen),
            )
        write_text(out, all_tasks.predictions_csv(test.ids, labels))
        print(f"{len(labels):,} rows labelled: {out}")
        return
    way: Way = chosen.evaluate if chosen.evaluate in ("loo", "splits") else "file"
    other = None
    if way == "file":
        path = Path(chosen.evaluate)
        if not path.exists():  # it may be a misspelt way of scoring
            raise DataError(f"--evaluate takes loo, splits or a labelled file; there is no file {path}")
        other, _ = _with(retrieve, read_rows(path, task, labelled=True), task)
    with _timed(), _maker(chosen) as (make, _), clearing():
        texts: Texts = ()
        if chosen.name == SPREADING and (chosen.task / TEST_FILE).is_file():
            rows = read_rows(chosen.task / TEST_FILE, task, labelled=False)
            texts = _with(retrieve, rows, task)[0].texts
        fit = make(wider, texts)
        found = evaluate(fit, train, wider, way=way, test=other, seed=chosen.seed, watch=show_rows)
    text = evaluation_json(chosen.name, task, chosen.seed, found)
    write_text(out, text)
    print(text, end="")
    for caution in found.caution:
        note(str(caution))


@contextmanager
def _timed() -> Iterator[None]:
    """Print the seconds that the work took, if it took at least one."""
    started = time.perf_counter()
    yield
    seconds = time.perf_counter() - started
    if seconds >= 1:
        note(f"it took {seconds:,.1f} s")


def _check(chosen: argparse.Namespace) -> None:
    """Refuse options that would be ignored."""
    if not chosen.all and (chosen.tasks or chosen.gold):
        raise SpecError("--tasks and --gold go with --all; a single task is scored with --evaluate")
    if chosen.all and chosen.evaluate:
        raise SpecError("--evaluate looks at one task; name it with --task, without --all")
    given = [name for name in ("trees", "depth", "learning_rate") if getattr(chosen, name) is not None]
    if given and chosen.name != "adaboost":
        raise SpecError(f"--{given[0].replace('_', '-')} is a setting of adaboost, not of {chosen.name}")
    if chosen.name != LM:
        check_installed(chosen.name)


def _retrieve(chosen: argparse.Namespace) -> Retrieve | None:
    return (
        None if chosen.retrieve is None else RetrievalProgram(chosen.retrieve, kept_texts(chosen.retrieved))
    )


def _with(retrieve: Retrieve | None, rows: TaskRows, task: Task) -> tuple[TaskRows, Task]:
    if retrieve is None:
        return rows, task
    with clearing():
        return with_retrieved(rows, task, retrieve, watch=show_rows)


def _block(chosen: argparse.Namespace) -> int:
    """Return the rows to label between two lines of progress; few for a language model, which is slow."""
    return 4 * int(chosen.parallel) if chosen.name == LM else BLOCK


Make = Callable[[Task, Texts], Baseline]


@contextmanager
def _maker(chosen: argparse.Namespace) -> Iterator[tuple[Make, Usage | None]]:
    """Yield the function that makes the baseline for a task, and a language model's usage so far."""
    if chosen.name == LM:
        with asked_lm(chosen) as (make_lm, usage):
            yield (lambda task, _: make_lm(task)), usage
        return
    if chosen.name == "adaboost":
        setting = Boosting(
            chosen.trees or PUBLISHED.trees,
            chosen.depth or PUBLISHED.depth,
            chosen.learning_rate or PUBLISHED.learning_rate,
        )
        yield (lambda _task, _texts: partial(fit_adaboost, setting=setting)), None
        return
    embedder = Embedder() if chosen.name.startswith("minilm") else None
    yield (lambda _, texts: make_baseline(chosen.name, embedder, texts)), None


def _label_all(chosen: argparse.Namespace) -> None:
    folder, out = chosen.tasks or TASKS, chosen.out or Path(chosen.name)
    if out.is_file():
        raise DataError(f"{out} is a file; with --all, --out names the submission's folder")
    found, without = all_tasks.read_files(folder)
    gold = None if chosen.gold is None else read_gold(chosen.gold, read_tasks(folder))
    if without:
        note(f"left out, for want of {TRAIN_FILE} or {TEST_FILE}: {listed(without)}")
    retrieve = _retrieve(chosen)
    settings = (*_IDENTITY.get(chosen.name, ()), "retrieve")  # everything that labels depend on
    runs: dict[str, all_tasks.TaskRun] = {}
    try:
        if retrieve is not None:
            for place, files in enumerate(found):
                train, task = _with(retrieve, files.train, files.task)
                found[place] = all_tasks.TaskFiles(task, train, _with(retrieve, files.test, files.task)[0])
        with _maker(chosen) as (make, usage), clearing():
            done = all_tasks.label_all(
                found,
                lambda files: make(files.task, files.test.texts),
                f"{chosen.name} {[str(getattr(chosen, name)) for name in settings]}",
                out,
                seed=chosen.seed,
                usage=usage,
                watch=show_rows,
                block=_block(chosen),
            )
            for name, run, new in done:
                runs[name] = run
                clear_line()
                print(_line(name, run, new, usage), flush=True)
    except (GraspError, KeyboardInterrupt):
        if runs or retrieve is not None:
            kept = f"{len(runs)} of {number(len(found), 'task')} are done and kept in {out}"
            note(f"{kept}; the same command goes on from there")
        raise
    print(f"{number(len(runs), 'task')} labelled: {out}")
    if gold is not None:
        scores = score(read_submission(out, read_tasks(folder)), read_tasks(folder), gold)
        all_tasks.write_run(out, runs, scores)
        print_scores(scores)


_ASKED = ("endpoint", "model", "chat", "gguf", "tokenizer", "window", "top_logprobs")
_IDENTITY = {
    "adaboost": ("trees", "depth", "learning_rate"),
    LM: (*_ASKED, "shots", "no_instructions", "random_examples"),
}


def _line(name: str, run: all_tasks.TaskRun, new: bool, usage: Usage | None) -> str:
    took = f"{run.seconds:.1f} s" if new else "from before"
    asked = f", {number(run.questions, 'question')}, {run.tokens:,} tokens" if run.questions else ""
    price = f", price {run.cost:.4f}" if usage is not None and run.cost else ""
    return f"{name}: {number(run.rows, 'row')}, {took}{asked}{price}"


ADABOOST = "adaboost"
TRIALS = "adaboost-trials.jsonl"
_BEST = 10


def fill_tune(tuning: argparse.ArgumentParser) -> None:
    """Add the command ``tune`` to the parser."""
    tuning.set_defaults(command=_tune)
    tuning.add_argument("name", nargs="?", choices=(LM, ADABOOST), default=LM, metavar="lm|adaboost")
    add_all_tasks(tuning, "one after the other")
    option(tuning, "--seed N", "of chance", whole, default=1)
    option(tuning, "--sweeps", "the paper's trials, one thing varied at a time, not all")
    model_options(tuning)


def _tune(chosen: argparse.Namespace) -> None:
    if chosen.tasks and not chosen.all:
        raise SpecError("--tasks goes with --all")
    found = _labelled(chosen)
    if chosen.name == ADABOOST:
        _tune_boosting(chosen, found)
    else:
        _tune_lm(chosen, found)


def _labelled(chosen: argparse.Namespace) -> list[tuple[Task, TaskRows]]:
    """Return the tasks with their labelled rows; of a folder, only tasks that have some."""
    if not chosen.all:
        task = read_task(chosen.task)
        return [(task, read_rows(chosen.task / TRAIN_FILE, task, labelled=True))]
    folder = chosen.tasks or TASKS
    found = [
        (task, read_rows(folder / name / TRAIN_FILE, task, labelled=True))
        for name, task in read_tasks(folder).items()
        if (folder / name / TRAIN_FILE).is_file()
    ]
    if not found:
        raise DataError(f"no task in {folder} has a {TRAIN_FILE}")
    return found


def _tune_lm(chosen: argparse.Namespace, found: Sequence[tuple[Task, TaskRows]]) -> None:
    similarity = similarity_or_say()
    with asked(chosen) as (model, answers, usage):
        for task, train in found:
            _head(task, found)
            if not task.instructions:
                note(f"{task.name} has no instructions: trials with and without them are the same")
            asking = Asking(task, model, answers, similarity, chosen.seed, show_rows, usage)
            if not chosen.sweeps:
                _print(tune(asking, train, grid(len(train.ids)), macro_f1_declared))
                continue
            for varied, settings in paper_sweeps(len(train.ids)):
                trials = tune(asking, train, settings, macro_f1_declared)
                clear_line()
                print(f"{varied}:")
                _print(trials)


def _head(task: Task, found: Sequence[tuple[Task, TaskRows]]) -> None:
    if len(found) > 1:
        print(f"{task.name}:")


def _print(trials: Sequence[Trial]) -> None:
    clear_line()
    print("macro-F1  shots  instructions  similar examples")
    for trial in trials:
        words = ["yes" if on else "no" for on in (trial.setting.instructions, trial.setting.semantic)]
        print(f"{trial.score:8.3f}  {trial.setting.shots:5d}  {words[0]:12s}  {words[1]}", flush=True)


def _tune_boosting(chosen: argparse.Namespace, found: Sequence[tuple[Task, TaskRows]]) -> None:
    check_installed(ADABOOST)

    def watch(done: int, total: int) -> None:
        show_line(f"{done:,} of {total:,} ensembles")

    path = Path(TRIALS) if chosen.resume == Path(ANSWERS) else chosen.resume
    done = kept_trials(path)
    try:
        for task, train in found:
            _head(task, found)
            parts = boosting_sweeps() if chosen.sweeps else (("", boosting_grid()),)
            for varied, settings in parts:
                trials = tune_boosting(train, task, settings, done, seed=chosen.seed, watch=watch)
                clear_line()
                if varied:
                    print(f"{varied}:")
                print("macro-F1  trees  depth  learning rate")
                for trial in trials if varied else trials[:_BEST]:
                    one, score = trial.setting, trial.score
                    print(f"{score:8.3f}  {one.trees:5d}  {one.depth:5d}  {one.learning_rate:g}", flush=True)
                if len(trials) > _BEST:
                    note(f"the best {_BEST} of {len(trials)} settings")
    finally:
        clear_line()
        if len(done):
            note(f"trials are kept in {path} and are not made again")
