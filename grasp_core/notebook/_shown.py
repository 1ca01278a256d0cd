"""Results shown in a few lines, in notebook cells and in files; progress bars."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from grasp_core.engine.pools.schedule import Progress
from grasp_core.engine.watching import Watcher
from grasp_core.model.errors import DataError
from grasp_core.model.text import Sentence, printable
from grasp_core.permutation.jit import telling

_LINES, _WIDTH = 8, 200


class Brief(ABC):
    """An object shown as a few lines of its answer, because all of its values would fill screens."""

    __slots__ = ()

    @abstractmethod
    def answer(self) -> str:
        """The answer in words."""

    def __repr__(self) -> str:
        lines = [printable(line) for line in self.answer().splitlines()]
        shown = [line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…" for line in lines[:_LINES]]
        more = f"({len(lines) - _LINES} more lines: print(....answer()))" if len(lines) > _LINES else ""
        return "\n".join(filter(None, (f"<grasp_core {type(self).__name__}>", *shown, more)))


class Saved(Brief):
    """A result that can be saved as files."""

    __slots__ = ()

    @abstractmethod
    def _files(self) -> Mapping[str, Callable[[], str | bytes]]:
        """Return functions that make a file's content, by the ending of the file's name."""

    def save(self, path: str | Path) -> None:
        """Write a file; its ending decides which of those in the class's description.

        Raises
        ------
        DataError
            If the file cannot be written, or its ending is none of these.
        """
        target, kinds = Path(path), self._files()
        ending = max((one for one in kinds if target.name.endswith(one)), key=len, default=None)
        if ending is None:
            raise DataError(f"{target.name} has to end in one of {', '.join(kinds)}")
        content = kinds[ending]()
        try:
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        except OSError as error:
            raise DataError(f"{target} cannot be written: {error.strerror}") from None


def page(
    headline: Sentence | None, details: Sequence[Sentence], table: str, further: Mapping[str, Sequence[str]]
) -> str:
    """Return HTML with a headline, sentences, a table, and lists that a click unfolds."""
    first = "" if headline is None else f"<p><strong>{_safe(headline.plain)}</strong></p>"
    folded = "".join(
        f"<details><summary>{escape(title)} ({len(lines)})</summary>{_list(map(_safe, lines))}</details>"
        for title, lines in further.items()
        if lines
    )
    return f"<div>{first}{_list(map(_html, details))}{table}{folded}</div>"


def shown_table(table: pd.DataFrame, below: str = "") -> str:
    """Return a table of texts as HTML, with a line below it."""
    text = f"<p><small>{_safe(below)}</small></p>" if below else ""
    cells = table.to_html(index=False, border=0, escape=True, justify="left")
    return f'<div style="overflow-x: auto; white-space: nowrap">{cells}</div>{text}'


def _list(lines: Sequence[str] | map[str]) -> str:
    inside = "".join(f"<li>{line}</li>" for line in lines)
    return f"<ul>{inside}</ul>" if inside else ""


def _html(sentence: Sentence) -> str:
    return "".join(
        f"<strong>{_safe(one.text)}</strong>" if one.strong else _safe(one.text) for one in sentence.segments
    )


def _safe(text: str) -> str:
    return escape(printable(text))


class ProgressBar(Watcher):
    """A progress bar that disappears once the work is done.

    `what`: unit of the counts.
    """

    def __init__(self, what: str, *, shown: bool) -> None:
        self._bar = _new(what, shown=shown)
        self._told = ExitStack()
        if shown:
            self._told.enter_context(telling(self._bar.write))

    def tell(self, done: int, total: int, of: str | None = None) -> None:
        """Show that `done` of `total` are done, in a stage called `of`."""
        self._bar.total = total
        self._bar.set_postfix_str(of or "", refresh=False)
        self._bar.update(done - self._bar.n)

    def share(self, done: float) -> None:
        """Show the share that is done."""
        self.tell(round(100 * done), 100)

    @property
    def looks_on(self) -> bool:
        """False, because a bar has no room for results."""
        return False

    def check(self, progress: Progress) -> None:
        """See :class:`~grasp_core.engine.watching.Watcher`."""
        if progress.share is None or not progress.stages:
            self.tell(progress.done, progress.total, progress.of)
        else:
            self._bar.set_description_str("of 100", refresh=False)
            self.tell(round(100 * progress.share), 100, progress.stages)

    def close(self) -> None:
        """Remove the bar."""
        self._told.close()
        self._bar.close()


def _new(what: str, *, shown: bool) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning that notebooks without ipywidgets get a bar of text
        from tqdm.auto import tqdm  # slow to import, because it looks for a notebook
    return tqdm(desc=what, total=0, leave=False, disable=not shown)
