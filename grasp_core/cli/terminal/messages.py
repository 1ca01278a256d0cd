"""What is said on standard output and standard error, and lines that say how far the work is."""

import contextlib
import os
import shlex
import shutil
import sys
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import NamedTuple

from grasp_core.engine.option_names import Voice
from grasp_core.model.text import one_line, printable, without_places

_YES, _NO = frozenset({"y", "yes"}), frozenset({"n", "no"})
EVERY_SECONDS = 30.0
"""From one line of progress to the next where lines cannot be written in place."""


class _Saying(NamedTuple):
    """Whether notes and progress are said, and whether standard output is for people."""

    notes: bool = True
    text: bool = True


_ALL = _Saying()
_SAYING: ContextVar[_Saying] = ContextVar("saying", default=_ALL)


@contextlib.contextmanager
def saying(*, notes: bool, text: bool) -> Iterator[None]:
    """Say notes and progress, and texts on standard output, or leave them out."""
    before = _SAYING.set(_Saying(notes, text))
    try:
        yield
    finally:
        _SAYING.reset(before)


def say(text: str = "", end: str = "\n") -> None:
    """Say a part of the answer to people, on standard output."""
    if _SAYING.get().text:
        print(without_places(text), end=end, flush=True)


def note(sentence: str) -> None:
    """Say something to know."""
    if _SAYING.get().notes:
        print(f"note: {without_places(sentence)}", file=sys.stderr)


def emphasised(text: str) -> str:
    """A text in bold on a terminal that shows it, unless NO_COLOR asks for none."""
    plain = os.environ.get("NO_COLOR") or not sys.stdout.isatty() or _is_dumb()
    return text if plain else f"\033[1m{text}\033[0m"


def columns() -> int | None:
    """Columns that text on standard output has room for: COLUMNS, or the terminal's; None elsewhere."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return shutil.get_terminal_size().columns
    return None


def in_place() -> bool:
    """Whether lines on standard error can be written anew in their place."""
    return _SAYING.get().notes and sys.stderr.isatty() and not _is_dumb()


def _is_dumb() -> bool:
    return os.environ.get("TERM") == "dumb"


class CommandLine(Voice):
    """Options as they are written on a command line; notes go to standard error."""

    def note(self, sentence: str) -> None:
        """See :class:`~grasp_core.engine.option_names.Voice`."""
        note(printable(sentence))

    def tell_labels(self, sentence: str) -> None:
        """See :class:`~grasp_core.engine.option_names.Voice`."""
        say(printable(sentence))

    def option(self, field: str) -> str:
        """See :class:`~grasp_core.engine.option_names.Voice`."""
        return f"--{field.replace('_', '-')}"

    def value(self, field: str, value: object) -> str:
        """See :class:`~grasp_core.engine.option_names.Voice`."""
        if isinstance(value, bool):
            return self.option(field if value else f"no-{field}")
        if isinstance(value, list):
            value = ",".join(one if isinstance(one, str) else "=".join(one) for one in value)
        return f"{self.option({'strata': 'within'}.get(field, field))} {shlex.quote(str(value))}"

    def ask(self, question: str, *, recommended: bool) -> bool | None:
        """Ask on a terminal, until yes or no is typed; None elsewhere, and where the input ends."""
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


VOICE = CommandLine()


class _Spaced:
    """Lines of progress where they cannot be written in place: one every so many seconds."""

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
    """Write on a terminal in place of the line before; elsewhere as a line of its own, now and then."""
    if in_place():
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
    else:
        _SPACED.show(line)


class Countdown:
    """A line on work of which the share that is done is known: how far it is, and the time left."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def show(self, share: float, words: str) -> None:
        """Show the words, and from what it took so far the time left."""
        took = time.monotonic() - self._began
        left = f", {seconds(took * (1 - share) / share)} left" if 0 < share < 1 and took > 1 else ""
        show_line(f"{words}{left}")


def seconds(left: float) -> str:
    """A time as people say it: ``45 s``, ``12 min``, ``1 h 5 min``."""
    minutes = round(left / 60)
    if left < 120:
        return f"{left:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def clear_line() -> None:
    """Take the line away."""
    show_line("")


@contextlib.contextmanager
def clearing() -> Iterator[None]:
    """Take away the line that work inside wrote last, however the work ends."""
    try:
        yield
    finally:
        clear_line()


def show_rows(done: int, total: int) -> None:
    """Show how many rows are done."""
    show_line(f"{done:,} of {total:,} rows")


class Lines:
    """Lines on a terminal that are written anew in their place; elsewhere the last of them, now and then."""

    def __init__(self) -> None:
        self._above = 0

    def show(self, lines: Sequence[str]) -> None:
        """Write lines in place of those before, as many and as much of each as the terminal has room for.

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
        """Take all lines away."""
        self.show([])


def _room() -> tuple[int, int]:
    """Columns and lines; where a terminal does not tell, those that every one has."""
    try:
        size = os.get_terminal_size(sys.stderr.fileno())
    except (OSError, ValueError):
        return 80, 24
    return size.columns or 80, size.lines or 24


def _cropped(line: str, width: int) -> str:
    """The line's beginning, one column short of the terminal's width."""
    if len(line) < width and line.isascii():
        return line
    ends = (end for end, reached in enumerate(_reached(line)) if reached >= width)
    return line[: next(ends, len(line))]


def _reached(line: str) -> Iterator[int]:
    """Columns up to each character, itself included."""
    columns = 0
    for character in line:
        columns += 0 if unicodedata.combining(character) else 1
        columns += unicodedata.east_asian_width(character) in "WF"
        yield columns
