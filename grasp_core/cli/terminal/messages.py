"""Messages on standard output and standard error, and lines of progress."""

import contextlib
import os
import shlex
import shutil
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import NamedTuple

from grasp_core.engine.frontend import Frontend
from grasp_core.model.text import Sentence, one_line, printable, without_places

_YES, _NO = frozenset({"y", "yes"}), frozenset({"n", "no"})
EVERY_SECONDS = 30.0
"""Seconds from one line of progress to the next if lines cannot be overwritten."""


class _Saying(NamedTuple):
    """Settings: whether notes and progress are printed, and whether standard output is for people."""

    notes: bool = True
    text: bool = True


_ALL = _Saying()
_SAYING: ContextVar[_Saying] = ContextVar("saying", default=_ALL)


@contextlib.contextmanager
def saying(*, notes: bool, text: bool) -> Iterator[None]:
    """Print or leave out notes and progress, and texts on standard output, in a block of code."""
    before = _SAYING.set(_Saying(notes, text))
    try:
        yield
    finally:
        _SAYING.reset(before)


def say(text: str = "", end: str = "\n") -> None:
    """Print a part of the answer for people, on standard output."""
    if _SAYING.get().text:
        print(without_places(text), end=end, flush=True)


def say_list(sentences: Iterable[Sentence | str]) -> None:
    """Print sentences, each as a line of a list."""
    for one in sentences:
        say(f"- {printable(one if isinstance(one, str) else one.plain)}")


def note(sentence: str) -> None:
    """Print a note on standard error."""
    if _SAYING.get().notes:
        print(f"note: {without_places(sentence)}", file=sys.stderr)


def emphasised(text: str) -> str:
    """Return a text in bold for a terminal that can show it, unless NO_COLOR is set."""
    plain = os.environ.get("NO_COLOR") or not sys.stdout.isatty() or _is_dumb()
    return text if plain else f"\033[1m{text}\033[0m"


def columns() -> int | None:
    """Return the columns of standard output, from COLUMNS or the terminal; None without either."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return shutil.get_terminal_size().columns
    return None


def in_place() -> bool:
    """Return whether lines on standard error can be overwritten."""
    return _SAYING.get().notes and sys.stderr.isatty() and not _is_dumb()


def _is_dumb() -> bool:
    return os.environ.get("TERM") == "dumb"


_OPTIONS = {"axes": "axis", "screens": "leave-out", "strata": "within"}
"""Options by field, if their names differ."""


class CommandLine(Frontend):
    """Names options as a command line does; notes go to standard error."""

    def note(self, sentence: str) -> None:
        """See :class:`~grasp_core.engine.frontend.Frontend`."""
        note(printable(sentence))

    def tell_labels(self, sentence: str) -> None:
        """See :class:`~grasp_core.engine.frontend.Frontend`."""
        say(printable(sentence))

    def option(self, field: str) -> str:
        """See :class:`~grasp_core.engine.frontend.Frontend`."""
        return f"--{_OPTIONS.get(field, field).replace('_', '-')}"

    def value(self, field: str, value: object) -> str:
        """See :class:`~grasp_core.engine.frontend.Frontend`."""
        if isinstance(value, bool):
            return self.option(field if value else f"no-{field}")
        if isinstance(value, list):
            value = ",".join(one if isinstance(one, str) else "=".join(one) for one in value)
        return f"{self.option(field)} {shlex.quote(str(value))}"

    def ask(self, question: str, *, recommended: bool) -> bool | None:
        """Ask on a terminal until yes or no is typed; None without a terminal, or if the input ends."""
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return None
        print(one_line(question), file=sys.stderr)
        while True:
            yes = "yes (recommended)" if recommended else "yes"
            print(f"{yes} or no: ", end="", file=sys.stderr, flush=True)
            line = sys.stdin.readline()
            if not line:
                return None
            if (typed := line.strip().casefold()) in _YES | _NO:
                return typed in _YES
            print("please type yes or no", file=sys.stderr)


TERMINAL = CommandLine()


class _Spaced:
    """Lines of progress if they cannot be overwritten: one every :data:`EVERY_SECONDS`."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def show(self, line: str) -> None:
        """Write the line, unless one was written a short while ago."""
        now = time.monotonic()
        if now - self._last >= EVERY_SECONDS and line and _SAYING.get().notes:
            self._last = now
            print(line, file=sys.stderr, flush=True)


_SPACED = _Spaced()


def show_line(line: str) -> None:
    """Write over the last line on a terminal; elsewhere write a new line, every :data:`EVERY_SECONDS`."""
    if in_place():
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
    else:
        _SPACED.show(line)


def seconds(left: float) -> str:
    """Return a time in words: ``45 s``, ``12 min``, ``1 h 5 min``."""
    minutes = round(left / 60)
    if left < 120:
        return f"{left:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def clear_line() -> None:
    """Clear the line of progress."""
    show_line("")


@contextlib.contextmanager
def clearing() -> Iterator[None]:
    """Clear the last line of progress of the work inside, however the work ends."""
    try:
        yield
    finally:
        clear_line()


@contextlib.contextmanager
def counting_down() -> Iterator[Callable[[float, str], None]]:
    """Yield a function that shows words and the time left, estimated from the share of work that is done."""
    began = time.monotonic()

    def show(share: float, words: str) -> None:
        took = time.monotonic() - began
        left = f", {seconds(took * (1 - share) / share)} left" if 0 < share < 1 and took > 1 else ""
        show_line(f"{words}{left}")

    with clearing():
        yield show


def show_rows(done: int, total: int) -> None:
    """Show how many rows are done."""
    show_line(f"{done:,} of {total:,} rows")


class Lines:
    """Lines that are overwritten on a terminal; elsewhere the last one, every :data:`EVERY_SECONDS`."""

    def __init__(self) -> None:
        self._above = 0

    def show(self, lines: Sequence[str]) -> None:
        """Write lines over the earlier ones, cut to the terminal's height and width.

        Each line is overwritten before the rest of it is cleared, so that nothing flickers.
        """
        if not in_place():
            show_line(lines[-1] if lines else "")
            return
        width, height = _room()
        if len(lines) > height:
            hidden = len(lines) - height + 1
            lines = [*lines[: height - 2], f"... and {hidden} more lines", lines[-1]]
        up = f"\033[{self._above}A" if self._above else ""
        text = "\n".join(f"{_cropped(line, width)}\033[K" for line in lines)
        print(f"\r{up}{text}\033[J", end="", file=sys.stderr, flush=True)
        self._above = max(len(lines) - 1, 0)

    def clear(self) -> None:
        """Clear all lines."""
        self.show([])


def _room() -> tuple[int, int]:
    """Return columns and lines of the terminal; 80 and 24 if it does not report them."""
    try:
        size = os.get_terminal_size(sys.stderr.fileno())
    except (OSError, ValueError):
        return 80, 24
    return size.columns or 80, size.lines or 24


def _cropped(line: str, width: int) -> str:
    """Return the line's beginning, at most one column less than the terminal's width."""
    if len(line) < width and line.isascii():
        return line
    ends = (end for end, reached in enumerate(_reached(line)) if reached >= width)
    return line[: next(ends, len(line))]


def _reached(line: str) -> Iterator[int]:
    """Yield the number of columns up to and including each character."""
    columns = 0
    for character in line:
        columns += 0 if unicodedata.combining(character) else 1
        columns += unicodedata.east_asian_width(character) in "WF"
        yield columns
