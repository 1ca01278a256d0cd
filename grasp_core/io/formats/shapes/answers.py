"""Which columns of an export to begin with: the label among the questions, axes among what raters told."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from grasp_core.groups import AxisSet
from grasp_core.io.table import names

MAX_OPTIONS = 50
"""A question of more different answers is taken for free text."""
MAX_AXES, PROPOSED_AXIS_VALUES = 6, 25
"""The most axes that are proposed; one of more values is left for a person to choose."""


def first_label(questions: Mapping[str, Collection[str]]) -> str:
    """The question to begin with: several answers but not free text, not about the rater, named like a label.

    Parameters
    ----------
    questions : mapping from column to its distinct texts, at least one
    """

    def score(name: str) -> tuple[bool, bool, bool, int]:
        found = len(set(questions[name]) - {""})
        about_rater = names.mentions(name, names.DEMOGRAPHIC)
        return 2 <= found <= MAX_OPTIONS, found > 0, not about_rater, names.label_score(name)

    return max(questions, key=score)


def proposed_axes(columns: Mapping[str, Sequence[str]], missing: Collection[str] = ()) -> tuple[AxisSet, ...]:
    """Those columns of a raters file whose values recur enough to form groups.

    Parameters
    ----------
    columns : mapping from column to its cells, in the order of proposal
    missing : collection of str
        Texts that mean "no value", beside the empty one.
    """
    able = []
    for name, cells in columns.items():
        known = [text for text in cells if text and text not in missing]
        if 2 <= len(set(known)) <= min(PROPOSED_AXIS_VALUES, len(known) // 2):
            able.append((name,))
    return tuple(able[:MAX_AXES])
