"""Labels that list several choices: in whatever order they were ticked, they are one label."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from grasp_core.annotations import is_number
from grasp_core.data_spec import DataSpec
from grasp_core.io.formats.tools.list_cells import structure
from grasp_core.io.guess.reasons import Reason
from grasp_core.recode_steps import MapValues
from grasp_core.wording import listed

_BETWEEN = ("|", ";", ",")
_MOST = 5_000
"""Of more different texts, none are choices."""

Choices = tuple[str, ...]


def one_set(
    cells: Mapping[str, int], spec: DataSpec, declared: Collection[str]
) -> tuple[DataSpec, list[Reason]]:
    """The reading in which lists of the same choices are one label, and why.

    Lists that are all as long, such as ranks, keep their order; so do texts that are `declared`, and a
    reading that names categories. `cells` are :func:`~grasp_core.io.guess.values.missing.label_cells`.
    """
    plain = [text for text in cells if text not in spec.missing and text not in declared]
    if spec.categories is not None or len(plain) > _MOST:
        return spec, []
    found = next((lists for sign in ("[", *_BETWEEN) if (lists := _lists(plain, sign))), {})
    alike: dict[Choices, list[str]] = {}
    for text, choices in found.items():
        alike.setdefault(tuple(sorted(choices)), []).append(text)
    ways = [sorted(texts) for texts in alike.values() if len(texts) > 1]
    if not ways or len({len(choices) for choices in alike}) < 2:
        return spec, []
    changes = tuple((text, first) for first, *others in ways for text in others)
    shown = listed([f"{text} = {first}" for text, first in changes], 3)
    step = MapValues(None, changes)
    why = f"the same choices in another order are one label: {shown}"
    return replace(spec, recode=(*spec.recode, step)), [Reason("recode", why)]


def _lists(texts: Collection[str], sign: str) -> dict[str, Choices]:
    """The choices of each text; none where `sign` does not divide texts into choices that recur."""
    found = {text: choices for text in texts if (choices := _choices(text, sign))}
    several = [choices for choices in found.values() if len(choices) > 1]
    known = {one for choices in found.values() for one in choices}
    decimals = sign == "," and all(map(is_number, texts))
    return found if several and len(known) <= len(found) and not decimals else {}


def _choices(text: str, sign: str) -> Choices:
    """The choices that a text lists, one where it lists none; none where it is no list."""
    if sign != "[":
        return tuple(part.strip() for part in text.split(sign))
    return tuple(map(str, structure(text.strip()) or ()))
