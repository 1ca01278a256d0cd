"""Options of the command as fields of requests to the API, in sentences, and back."""

import json
import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from grasp_core.model.data_spec import IN_FILES, Bins, range_labels
from grasp_core.model.errors import SpecError
from grasp_core.model.json_values import to_json
from grasp_core.model.text import with_arguments


def for_requests(text: str) -> str:
    """Return a text for the API: drop places on pages, turn the command's options into a request's fields.

    ``on Data, under Leave out, or by --exclude age=`` becomes ``by "exclude": [["age", ""]]``.
    """
    return with_arguments(text, _field)


def as_option(field: str, value: Any) -> str | None:
    """Return the option of the command for a field with a value, where its name or form differs."""
    match field, value:
        case "filters", {"drop": [[column, cell]]}:
            return f"--drop {shlex.quote(f'{column}={cell}')}"
        case "filters", {"raters": [one]}:
            return f"--exclude-rater {shlex.quote(one)}"
        case "filters", {"items": [one]}:
            return f"--exclude-item {shlex.quote(one)}"
        case "axes", [[*names]]:
            return f"--intersect {shlex.quote(':'.join(names))}" if len(names) > 1 else f"--axis {names[0]}"
        case "screens", [one]:
            return f"--leave-out {one}"
        case "recode", [{"kind": "bins", "column": column, "edges": edges}]:
            return f"--bins {shlex.quote(column)}:{','.join(f'{edge:g}' for edge in edges)}"
    return None


def _pair(text: str) -> list[str]:
    column, _, value = text.partition("=")
    return [column, value]


def _bins(text: str) -> list[Any]:
    column, _, edges = text.rpartition(":")
    numbers = tuple(map(float, edges.split(",")))
    return [to_json(Bins(column, numbers, range_labels(numbers)))]


_Form = tuple[str, Callable[[str], object]]
_FIELDS: Mapping[str, _Form] = {
    "axis": ("axes", lambda name: [[name]]),
    "bins": ("recode", _bins),
    "categories": ("categories", lambda names: names.split(",")),
    "drop": ("filters", lambda pair: {"drop": [_pair(pair)]}),
    "exclude": ("exclude", lambda pair: [_pair(pair)]),
    "exclude-item": ("filters", lambda one: {"items": [one]}),
    "exclude-rater": ("filters", lambda one: {"raters": [one]}),
    "intersect": ("axes", lambda names: [names.split(":")]),
    "keep": ("keep", lambda pair: [_pair(pair)]),
    "leave-out": ("screens", lambda name: [name]),
    "map": ("recode", str),
    "missing": ("missing", lambda text: [text]),
    "model": ("models", str),
    "slice": ("slices", lambda name: [name]),
    "within": ("strata", lambda name: [name]),
    **dict.fromkeys(("gold", "max-time", "min-gold", "min-time", "time"), ("filters", str)),
}
"""Fields by option, each with the form of its value, if they differ; others have the option's name."""


def _field(found: re.Match[str]) -> str:
    name, quoted, plain = found.groups()
    plainly = name.replace("-", "_")
    field, form = _FIELDS.get(name, (IN_FILES.get(plainly, plainly), str))
    if quoted is None and plain is None:
        return json.dumps(field)
    given = plain if quoted is None else quoted
    try:
        return f"{json.dumps(field)}: {json.dumps(form(given), ensure_ascii=False)}"
    except (SpecError, ValueError):  # no edges of ranges
        return f"{json.dumps(field)} of {given}"
