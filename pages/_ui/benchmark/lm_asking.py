"""Asking a server's language model in a thread of its own: it waits for the network, the pages do not."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from grasp_core.benchmark.baselines.embedding import Embedder
from grasp_core.benchmark.language_models.baseline import InContext
from grasp_core.benchmark.language_models.endpoint import OPENAI_HOST, Endpoint
from grasp_core.benchmark.language_models.ledger import Answers, Usage
from grasp_core.benchmark.language_models.model import Answer, ModelError
from grasp_core.benchmark.language_models.scoring import Setting
from grasp_core.benchmark.language_models.selection import cosine_of
from grasp_core.benchmark.scoring.evaluate import work_key
from grasp_core.benchmark.scoring.folds import Fold, taken
from grasp_core.benchmark.tasks import Rows, Task
from grasp_core.errors import FAULT, DataError, GraspError
from grasp_core.settings import Settings, variable
from grasp_core.wording import number

WINDOW = 2048
"""Tokens that prompt and answer have together."""
FOLDER = "lm-answers"
"""Where answers are kept, below the server's home."""
_IN_A_ROW = 3  # failures after which the model is taken to be out of reach
_POLL_S = 0.1

_files: WeakValueDictionary[Path, threading.Lock] = WeakValueDictionary()
_files_lock = threading.Lock()


class _CancelledError(Exception):
    """The visitor wants no more of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Questions:
    """Rows that a language model labels, fold by fold."""

    task: Task
    rows: Rows
    folds: Sequence[Fold]
    seed: int
    setting: Setting

    @property
    def total(self) -> int:
        """How many."""
        return sum(len(fold.test) for fold in self.folds)


class _Model:
    """The endpoint, and why it last gave no answer."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.name, self.window, self.parallel = endpoint.name, endpoint.window, endpoint.parallel
        self.count, self.cut, self.close = endpoint.count, endpoint.cut, endpoint.close
        self.reason: ModelError | None = None
        self.in_a_row = 0

    @property
    def out_of_reach(self) -> bool:
        """Whether there is no use in asking on."""
        return self.reason is not None and (not self.reason.passing or self.in_a_row >= _IN_A_ROW)

    def next_token_logprobs(self, prompt: str, candidates: Sequence[str]) -> Answer:
        """The endpoint's answer."""
        try:
            answer = self._endpoint.next_token_logprobs(prompt, candidates)
        except ModelError as error:
            self.reason = error
            self.in_a_row += 1
            raise
        self.in_a_row = 0
        return answer


class Asking(threading.Thread):
    """Asks all questions, and keeps each answer on the server's disk as soon as it is there.

    Parameters
    ----------
    settings : Settings
    questions : Questions
    """

    def __init__(self, settings: Settings, questions: Questions) -> None:
        super().__init__(name="grasp-ask", daemon=True)
        self._settings, self._questions = settings, questions
        self._waiting = False
        self._done: dict[str, list[str]] = {}
        self._error: Exception | None = None
        self._reason: ModelError | None = None
        self.usage = Usage()
        self.cancelled = False

    @property
    def share(self) -> float:
        """Of the questions, what is done."""
        return min(self._ready / max(self._questions.total, 1), 1.0)

    @property
    def text(self) -> str:
        """How far it is, in words."""
        if self._waiting:
            return "Waiting for another run on the same rows"
        return f"{self._ready:,} of {number(self._questions.total, 'question')}"

    def result(self) -> dict[str, list[str]]:
        """Labels by fold, as :func:`~grasp_core.benchmark.scoring.evaluate.evaluate` keeps work that is done.

        Raises
        ------
        DataError, SpecError
            If questions stayed without an answer.
        """
        if isinstance(self._error, GraspError):
            raise self._error
        if self._error is not None:
            raise DataError(FAULT) from self._error
        if self._reason is not None:
            found = self.usage.asked + self.usage.reused
            # Who asks here knows no options of the command line.
            reason = self._reason.remark.reworded(options=0, variable=variable("lm_key"))
            raise DataError(
                f"{found:,} of {number(self._questions.total, 'question')} got an answer, "
                f"{self.usage.failed:,} failed. {reason}. Nothing is lost: asked again, "
                "only what is missing is sent"
            )
        return self._done

    @property
    def _ready(self) -> int:
        return self.usage.asked + self.usage.reused + self.usage.failed

    def run(self) -> None:
        """Ask."""
        try:
            path = _file(self._settings, self._questions)
            with self._alone(path), closing(_endpoint(self._settings)) as endpoint, _kept(path) as answers:
                self._ask(_Model(endpoint), answers)
        except _CancelledError:
            pass
        except Exception as error:  # handed to the page's thread
            self._error = error

    def _ask(self, model: _Model, answers: Answers) -> None:
        asked, usage = self._questions, self.usage
        similarity = cosine_of(Embedder()) if asked.setting.semantic else None
        fit = InContext(model, answers, asked.setting, similarity, self._watch, usage)
        for at, fold in enumerate(asked.folds):
            failed = usage.failed
            try:
                label = fit(taken(asked.rows, fold.train), asked.task, asked.seed)
                self._done[f"fold {at}"] = label([asked.rows.texts[row] for row in fold.test])
            except DataError:
                if usage.failed == failed:
                    raise  # not for want of an answer
                self._reason = model.reason
                if model.out_of_reach:
                    return

    def _watch(self, _done: int, _total: int) -> None:
        if self.cancelled:
            raise _CancelledError

    @contextmanager
    def _alone(self, path: Path) -> Iterator[None]:
        """Two runs that write the same file would ask, and pay for, the same questions."""
        with _files_lock:
            lock = _files.setdefault(path, threading.Lock())
        while not lock.acquire(timeout=_POLL_S):
            self._waiting = True
            self._watch(0, 0)
        self._waiting = False
        try:
            yield
        finally:
            lock.release()


def _endpoint(settings: Settings) -> Endpoint:
    """The model; no other key of the server's environment is sent than the one that is meant for it."""
    keyed = settings.lm_key or urlsplit(settings.lm_endpoint).hostname == OPENAI_HOST
    name = variable("lm_key") if keyed else None
    return Endpoint(settings.lm_endpoint, settings.lm_model, key_variable=name, window=WINDOW)


def _file(settings: Settings, questions: Questions) -> Path:
    """One file for all that the same model is asked about the same rows."""
    model = f"{settings.lm_model} at {settings.lm_endpoint}"
    folder = settings.folder / FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"This server cannot keep answers ({error.strerror}); tell whoever runs it") from None
    return folder / f"{work_key(model, questions.task, [questions.rows], FOLDER, 0)}.jsonl"


def _kept(path: Path) -> Answers:
    try:
        return Answers(path)
    except DataError:
        raise DataError(
            "The answers that this server kept for these rows cannot be used; whoever runs it may delete "
            f"{FOLDER}/{path.name} in its home folder"
        ) from None
