"""Provisional results in words: p and q with their intervals, and marks that may still change."""

from __future__ import annotations

from grasp_core.outcome import LabelUse, Outcome
from grasp_core.report.words.names import format_p_value, p_text
from grasp_core.result import Result
from grasp_core.spec import LEVEL

NOT_YET = "…"
MAY_CHANGE = "?"


def may_change(outcome: Outcome | LabelUse) -> bool:
    """Whether further permutations may change a mark: the interval of p, or of q, holds the level."""
    intervals = (outcome.p_interval, outcome.q_interval)
    return any(one is not None and one[0] < LEVEL <= one[1] for one in intervals)


def p_so_far(outcome: Outcome | LabelUse) -> str:
    """The p-value so far with its interval, such as ``about 0.031 (0.022–0.046)``."""
    return _about(outcome.p, outcome.p_interval)


def q_so_far(outcome: Outcome | LabelUse) -> str:
    """The q-value so far with its interval."""
    return _about(outcome.q, outcome.q_interval)


def _about(value: float | None, interval: tuple[float, float] | None) -> str:
    if value is None or interval is None:
        return NOT_YET
    return f"about {value:.3f} ({interval[0]:.3f}–{interval[1]:.3f})"


def not_yet(outcome: Outcome | LabelUse, result: Result) -> bool:
    """Whether a test has no p-value because its run has only begun."""
    return result.provisional and outcome.p is None and outcome.reason is None


def p_in_figure(outcome: Outcome | LabelUse, result: Result) -> str:
    """The p-value where there is little room: ``≈ 0.031`` while permutations go on, dots before."""
    if outcome.fit is not None:
        return p_text(outcome)
    return NOT_YET if not_yet(outcome, result) else _in_figure(outcome.p, result)


def q_in_figure(outcome: Outcome | LabelUse, result: Result) -> str:
    """The same of q."""
    return NOT_YET if not_yet(outcome, result) else _in_figure(outcome.q, result)


def _in_figure(value: float | None, result: Result) -> str:
    text = format_p_value(value, permutations=result.permutations)
    return f"≈ {text}" if result.provisional and value is not None else text


def what_is_provisional(result: Result) -> str:
    """What of a provisional result stays, what may change, and how to read its signs."""
    if result.later is not None:
        return f"Groups are done; {result.later} are still computed, and what is told of them may change."
    if not result.permutations:
        return "Provisional: observed values are final; p-values come with the first permutations."
    return (
        f"Provisional, after {result.permutations:,} permutations: observed values are final; p, q, arrows, "
        "stars and histograms may still change. In brackets: a 95 % interval of what p or q becomes. "
        f"{MAY_CHANGE}: a mark that may still change."
    )
