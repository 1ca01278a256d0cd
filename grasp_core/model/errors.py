"""Exceptions that a user of GRASP can act on."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from grasp_core.model.remarks.remark import Remark, Words, said
from grasp_core.model.text import EXAMPLES, cut, number

FAULT = "The run stopped because of an error in GRASP itself; please file a bug."


class GraspError(Exception):
    """Base of errors whose message is for the user; `code` names one, whatever its wording."""

    code: str = "error"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about the data that a person should know.

    `stops`: true if the data cannot be used until this is mended.
    `count`: number of cells, rows, raters or items concerned.
    `field`: the field of the data spec that mends it, if any.
    """

    stops: bool
    remark: Remark
    count: int = 1
    examples: tuple[str, ...] = ()
    axis: str | None = None
    field: str | None = None

    @property
    def message(self) -> str:
        """The remark's sentence."""
        return str(self.remark)

    @property
    def further_examples(self) -> tuple[str, ...]:
        """Examples that the sentence does not show, without blank ones."""
        given = {"", *_given(self.remark)}
        return tuple(example for example in self.examples if cut(example).strip() not in given)


def _given(remark: Remark) -> set[str]:
    """Return the examples that a sentence shows: its texts and row numbers."""
    found: set[str] = set()
    for name, value in remark.numbers:
        if isinstance(value, Remark):
            found |= _given(value)
        elif isinstance(value, tuple):
            found |= {cut(text) for text in value if isinstance(text, str)}
        else:
            found.add(f"row {value}" if name == "row" else cut(str(value)))
    return found


def stop(
    remark: Remark, count: int = 1, examples: Iterable[str] = (), *, field: str | None = None
) -> Problem:
    """Return a problem that must be mended first, perhaps by another value of the data spec's `field`."""
    return Problem(True, remark, int(count), tuple(examples)[:EXAMPLES], field=field)


def know(remark: Remark, count: int = 1, examples: Iterable[str] = ()) -> Problem:
    """Return a problem to know about, with which the data can still be used."""
    return Problem(False, remark, int(count), tuple(examples)[:EXAMPLES])


class DataError(GraspError):
    """The data cannot be used as given; the message gives the place, the finding and the remedy.

    `message`: one sentence; a plain text has no code.
    `problems`: all problems to mend; by default, the one of `message`.

    `code`: code of the first problem; "data" if its sentence has none.
    """

    code = "data"

    def __init__(self, message: Remark | str, problems: Iterable[Problem] = ()) -> None:
        super().__init__(str(message))
        remark = said(message) if isinstance(message, str) else message
        self.problems = tuple(problems) or (Problem(True, remark),)
        first = self.problems[0].remark.code
        if not isinstance(first, Words):
            self.code = first.key


class UnsureError(DataError):
    """A guess is too unsure to compute anything; its code names the `option` that decides."""

    def __init__(self, sentence: str, option: str) -> None:
        super().__init__(sentence)
        self.option = option
        self.code = f"unsure-{option.replace('_', '-')}"


class MissingPackageError(DataError):
    """A package of an extra is not installed; :func:`grasp_core.model.extras.require` names both."""

    code = "missing-package"


def raise_stopping(problems: Iterable[Problem]) -> None:
    """Raise one :class:`DataError` with all problems that stop, if there are any."""
    stopping = [problem for problem in problems if problem.stops]
    if stopping:
        more = len(stopping) - 1
        tail = f" (and {number(more, 'more problem')})" if more else ""
        raise DataError(stopping[0].message + tail, stopping)


class SpecError(GraspError):
    """A spec asks for a run that cannot be computed.

    `field`: the field of the data spec concerned; the message begins with it.
    `about`: names of the fields that each sentence is about, if known.
    """

    code = "spec"

    def __init__(
        self,
        sentence: str,
        *,
        field: str | None = None,
        further: Sequence[str] = (),
        about: Sequence[Collection[str]] = (),
    ) -> None:
        super().__init__(sentence if field is None else f"{field}: {sentence}")
        self.sentence = sentence
        self.further = tuple(further)
        self.about = tuple(about)

    @property
    def sentences(self) -> tuple[str, ...]:
        """All faults, one sentence each."""
        return str(self), *self.further


class SelfCheckError(GraspError):
    """A run's own figures disagree with independent software, so nothing is reported."""

    code = "self-check"


class RunCancelledError(GraspError):
    """The run was cancelled before it was complete."""

    code = "cancelled"


class WorkerError(GraspError):
    """The processes that compute a run died and could not be replaced."""

    code = "workers"


class LostSchedulerError(WorkerError):
    """The scheduler of a cluster vanished while it was needed."""

    code = "scheduler"


class StoreError(GraspError):
    """The store cannot be read or written just now."""

    code = "store"


class MissingResultError(GraspError):
    """A run has no result, or no longer has one."""

    code = "missing-result"


class LimitError(GraspError):
    """A user has asked for more than a person may have; `seconds` until more is allowed, if ever."""

    code = "limit"

    def __init__(self, sentence: str, seconds: int | None = None) -> None:
        super().__init__(sentence)
        self.seconds = seconds


class TooOftenError(GraspError):
    """Somebody asks more often than a person may; they may try again after `seconds`."""

    code = "too-often"

    def __init__(self, sentence: str, seconds: int) -> None:
        super().__init__(sentence)
        self.seconds = seconds


class SettingsError(GraspError):
    """The installation's settings cannot be used."""

    code = "settings"


class RemoteError(GraspError):
    """A server did not give what was asked for; `code`: e.g. "not-done" or "not-found"."""

    def __init__(self, sentence: str, code: str) -> None:
        super().__init__(sentence)
        self.code = code


class AccessError(GraspError):
    """The user may not do what they asked for."""

    code = "access"
