"""Where nothing is clear: what came nearest, and what could have been found."""

from __future__ import annotations

from grasp_core.report.findings.findings import count_groups, judged, nearest
from grasp_core.report.words.text import Sentence
from grasp_core.result import RunResult
from grasp_core.wording import number

_WHOLE_FROM = 0.05
"""From 5 points on, decimals say nothing in a sentence."""


def could_have_been_found(result: RunResult) -> Sentence | None:
    """How far a lone group would have to differ to be clear four times in five; None where none is known."""
    found = sorted(result.findable, key=lambda one: one.shift)
    if not found:
        return None
    least, most = found[0], found[-1]
    amount = f"about {_points(least.shift)}"
    if _points(least.shift) != _points(most.shift):
        amount += f" (n = {least.n_raters}) to {_points(most.shift)} (n = {most.n_raters})"
    return Sentence.of(
        f"With these raters and items, four runs in five would find a lone group that says a label {amount} "
        "more or less often than the others."
    )


def _points(share: float) -> str:
    points = f"{100 * share:.0f}" if share > _WHOLE_FROM else f"{100 * share:.1f}"
    return f"{points} {'point' if points == '1.0' else 'points'}"


def nothing_holds(result: RunResult) -> tuple[Sentence, ...]:
    """What is said where there is no finding: what came nearest, and what could have been found."""
    said: list[Sentence] = []
    near = nearest(result)
    if near:
        marked = "Marked nominally only, so no finding:"
        what = "A hint, which is no finding, of" if judged(result) else marked
        count = f"{what} {number(count_groups(near), 'group')}. The nearest: "
        said.append(Sentence.of(count, *near[0].sentence.segments))
    limit = could_have_been_found(result)
    return tuple(said if limit is None else [*said, limit])
