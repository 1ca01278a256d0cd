"""Results in a notebook's cell: HTML without scripts, every text from the data escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from grasp_core.model.text import Sentence, printable


def page(
    headline: Sentence | None, details: Sequence[Sentence], table: str, further: Mapping[str, Sequence[str]]
) -> str:
    """A headline, sentences, a table, and lists that are unfolded by a click."""
    first = "" if headline is None else f"<p><strong>{_plain(headline)}</strong></p>"
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


def below(tables: Iterable[tuple[pd.DataFrame, Mapping[str, Any]]]) -> pd.DataFrame:
    """Like tables one below the other, each behind columns that say the same in all of its rows."""
    frames = []
    for table, first in tables:
        for place, (head, cell) in enumerate(first.items()):
            table.insert(place, head, cell)
        frames.append(table)
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _list(lines: Sequence[str] | map[str]) -> str:
    inside = "".join(f"<li>{line}</li>" for line in lines)
    return f"<ul>{inside}</ul>" if inside else ""


def _html(sentence: Sentence) -> str:
    return "".join(
        f"<strong>{_safe(one.text)}</strong>" if one.strong else _safe(one.text) for one in sentence.segments
    )


def _plain(sentence: Sentence) -> str:
    return _safe(sentence.plain)


def _safe(text: str) -> str:
    return escape(printable(text))
