"""Text from the data made harmless for any format: every character is one that can be seen."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from grasp_core.groups import Group
from grasp_core.result import DataSummary, DsiResult, GroupResult, Outcome, RunResult

_BLANKS = "\t\n\v\f\r\x1c-\x1f\x85\u2028\u2029"
_DIRECTIONS = "\u202a-\u202e\u2066-\u2069"
_NOT_TEXT = "\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff"
_NAME_LIMIT = 200
"""Characters of a name that anybody reads; renderers take minutes for very long ones."""
_BLANK = re.compile(f"[{_BLANKS}]")
_UNSEEN = re.compile(f"[{_DIRECTIONS}{_NOT_TEXT}]")
_UNSEEN_IN_JSON = re.compile(f"(?!\n)[{_DIRECTIONS}{_NOT_TEXT}\u2028\u2029]")


def visible(text: str) -> str:
    """Text in which tabs and line breaks are blanks and other unseen characters read like ``[U+202E]``.

    Notes
    -----
    Unseen are control characters, halves of surrogate pairs and noncharacters, which XML and Excel
    refuse, and the characters that turn the reading direction of what follows.
    """
    return _UNSEEN.sub(lambda found: f"[U+{ord(found.group()):04X}]", _BLANK.sub(" ", text))


def visible_name(name: str) -> str:
    """A name :func:`visible`, cut where nobody reads on."""
    shown = visible(name)
    return shown if len(shown) <= _NAME_LIMIT else f"{shown[: _NAME_LIMIT - 1]}…"


def visible_result(result: RunResult) -> RunResult:
    """The same result with every text :func:`visible`, and names no longer than 200 characters.

    The spec stays as it is: its texts are the names of the data's columns.
    """
    return replace(
        result,
        data=_data(result.data),
        groups=tuple(_group_result(row) for row in result.groups),
        dsi=tuple(_dsi(row) for row in result.dsi),
        warnings=tuple(visible(warning) for warning in result.warnings),
        code_version=visible(result.code_version),
    )


def json_text(plain: Any) -> str:
    """Indented JSON whose unseen characters are escaped, so that it can be shown, and encoded as UTF-8."""
    text = json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False)
    return _UNSEEN_IN_JSON.sub(lambda found: f"\\u{ord(found.group()):04x}", text) + "\n"


def _names(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(visible_name(name) for name in names)


def _data(data: DataSummary) -> DataSummary:
    files = tuple(
        replace(file, name=visible_name(file.name), sha256=visible(file.sha256)) for file in data.files
    )
    return replace(data, categories=_names(data.categories), sha256=visible(data.sha256), files=files)


def _group_result(row: GroupResult) -> GroupResult:
    statistics = {name: _outcome(outcome) for name, outcome in row.statistics.items()}
    return replace(row, group=_group(row.group), statistics=statistics)


def _dsi(row: DsiResult) -> DsiResult:
    group = None if row.group is None else _group(row.group)
    return replace(row, axes=_names(row.axes), group=group, outcome=_outcome(row.outcome))


def _group(group: Group) -> Group:
    return Group(_names(group.axes), _names(group.values))


def _outcome(outcome: Outcome) -> Outcome:
    return outcome if outcome.reason is None else replace(outcome, reason=visible(outcome.reason))
