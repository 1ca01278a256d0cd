"""Results in a few lines, in a notebook's cell (HTML without scripts, texts escaped), and in files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path

import pandas as pd

from grasp_core.model.errors import DataError
from grasp_core.model.text import Sentence, printable

_LINES, _WIDTH = 8, 200


class Brief(ABC):
    """What shows itself in a few lines, where all of its values would fill screens."""

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
    """A result that files can hold."""

    __slots__ = ()

    @abstractmethod
    def _files(self) -> Mapping[str, Callable[[], str | bytes]]:
        """What makes a file's content, by the ending of its name."""

    def save(self, path: str | Path) -> None:
        """Write a file, whose ending says which: those of the class's description.

        Raises
        ------
        DataError
            If it cannot be written, or its ending is none of these.
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
    """A headline, sentences, a table, and lists that are unfolded by a click."""
    first = "" if headline is None else f"<p><strong>{_safe(headline.plain)}</strong></p>"
    folded = "".join(
        f"<details><summary>{escape(title)} ({len(lines)})</summary>{_list(map(_safe, lines))}</details>"
        for title, lines in further.items()
        if lines
    )
    return f"<div>{first}{_list(map(_html, details))}{table}{folded}</div>"


def shown_table(table: pd.DataFrame, below: str = "") -> str:
    """A table of texts, with a line below it."""
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
