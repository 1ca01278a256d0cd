"""What was found of two groups, as sentences: size first, then its test."""

from __future__ import annotations

from collections.abc import Sequence

from grasp_core.groups import Group
from grasp_core.outcome import LabelUse, Outcome, Significance
from grasp_core.pairs import PairResult
from grasp_core.report.findings.doubts import About, doubts
from grasp_core.report.findings.finding import LABEL_USE, lead
from grasp_core.report.findings.no_findings import pair_could_have_been_found
from grasp_core.report.pairs.words import label_key
from grasp_core.report.words.label_use import direction, manner
from grasp_core.report.words.names import format_interval, format_p, format_value, group_label, p_words
from grasp_core.report.words.text import Segment, Sentence
from grasp_core.result import RunResult

PAIRS_SAID = 5
"""Pairs of which a sentence is said where not all are."""
_ORDER: tuple[Significance, ...] = ("corrected", "nominal")
_NOTHING = (
    "Nothing between the two is marked: chance groupings of their raters differ as much. That does not show "
    "that they see the items alike."
)


def pair_sentences(row: PairResult, result: RunResult) -> tuple[Sentence, ...]:
    """What is marked of a pair, what holds after correction first; or that nothing is.

    The first that names no label says which one goes with it, unless that was told before.
    """
    marked = [(one, parts) for one, parts in _found(row) if one.significance != "none"]
    marked.sort(key=lambda pair: _ORDER.index(pair[0].significance))
    told: list[Sentence] = []
    named = False
    for one, parts in marked:
        label = () if named else _direction(row, one, result)
        named = named or bool(label) or one is row.label_use
        told.append(_sentence(row, one, parts, result, label))
    return tuple(told) or (Sentence.of(_NOTHING),)


def _sentence(
    row: PairResult,
    one: Outcome | LabelUse,
    parts: Sequence[str | Segment],
    result: RunResult,
    label: Sequence[str | Segment],
    before: str = "",
) -> Sentence:
    """What may undo it, what was found, its test, and which label goes with it."""
    return Sentence.of(before, _lead(row, one, result), *parts, f"; {_tested(one, result)}", *label, ".")


def _direction(row: PairResult, one: Outcome | LabelUse, result: RunResult) -> tuple[str | Segment, ...]:
    """The pair's own label use, beside what is told of it by a statistic."""
    if isinstance(one, LabelUse):
        return ()
    a, b = (Segment(group_label(group), strong=True) for group in (row.a, row.b))
    return direction(_key(row, one), row.label_use, a, " raters", than=b, permutations=result.permutations)


def _lead(row: PairResult, one: Outcome | LabelUse, result: RunResult) -> str:
    """What may undo it."""
    key = _key(row, one)
    what = LABEL_USE if key.startswith("label: ") else "gap" if key == "gap_a" else key
    return lead(doubts(result, About(row.a.axes, (row.a, row.b), what)))


def foremost_pairs(result: RunResult, of: Group | None = None) -> list[PairResult]:
    """Pairs with something marked after correction, of one group where it is named, strongest first.

    A named group stands first in each.
    """
    rows = result.pairs if of is None else seen_from(result, of)
    marked = [row for row in rows if any(one.significance == "corrected" for one, _ in _found(row))]
    return sorted(marked, key=lambda row: min(1.0 if one.q is None else one.q for one, _ in _found(row)))


def strongest(rows: Sequence[PairResult]) -> int:
    """The place of the pair with the strongest evidence of anything; the first without any."""
    q = [min((1.0 if one.q is None else one.q for one, _ in _found(row)), default=1.0) for row in rows]
    return q.index(min(q))


def told_first(row: PairResult) -> str | None:
    """The key of the measure that a pair's first sentence is about; of its distance where nothing is marked.

    None where neither has a value.
    """
    found = [one for one, _ in _found(row)]
    for mark in _ORDER:
        for one in found:
            if one.significance == mark:
                return _key(row, one)
    return "distance" if row.statistics.get("distance") in found else None


def _key(row: PairResult, one: Outcome | LabelUse) -> str:
    if isinstance(one, LabelUse):
        return label_key(str(one.most))
    name = next(name for name, outcome in row.statistics.items() if outcome is one)
    return "gap_a" if name == "gap_b" else name


def seen_from(result: RunResult, group: Group) -> tuple[PairResult, ...]:
    """The pairs of a group, as it beside the other one."""
    of_group = (row for row in result.pairs if group in (row.a, row.b))
    return tuple(row if row.a == group else row.turned() for row in of_group)


def most_told(result: RunResult, most: int) -> tuple[Sentence, ...]:
    """The strongest sentence of each pair that holds after correction, at most so many, and what is left."""
    found = foremost_pairs(result)
    if not found:
        none = Sentence.of("No two groups of an axis differ in a way that holds after correction.")
        limit = pair_could_have_been_found(result)
        return (none, *_nearest(result), *(() if limit is None else (limit,)))
    told = [pair_sentences(row, result)[0] for row in found[:most]]
    left = len(found) - most
    if left > 0:
        pairs = "one more pair" if left == 1 else f"{left} more pairs"
        told.append(Sentence.of(f"After correction, something holds of {pairs}, too."))
    return tuple(told)


def _nearest(result: RunResult) -> tuple[Sentence, ...]:
    """What came nearest to a finding: of the pair with the smallest q, what is told first of it."""
    if not result.pairs:
        return ()
    row = result.pairs[strongest(result.pairs)]
    tested = [(one, parts) for one, parts in _found(row) if one.q is not None]
    if not tested:
        return ()
    one, parts = min(tested, key=lambda pair: pair[0].q or 0.0)
    return (_sentence(row, one, parts, result, _direction(row, one, result), before="The nearest: "),)


def _found(row: PairResult) -> list[tuple[Outcome | LabelUse, Sequence[str | Segment]]]:
    """All that was tested of a pair and has a value, with its words."""
    a, b = (Segment(group_label(group), strong=True) for group in (row.a, row.b))
    found: list[tuple[Outcome | LabelUse, Sequence[str | Segment]]] = []
    if row.label_use is not None and (said := manner(row.label_use, b)):
        found.append((row.label_use, (a, " raters ", *said)))
    for name, outcome in row.statistics.items():
        if outcome.value is not None:
            found.append((outcome, _words(name, outcome, outcome.value, a, b)))
    return found


def _words(name: str, outcome: Outcome, value: float, a: Segment, b: Segment) -> tuple[str | Segment, ...]:
    figure = f"{format_value(value)}{_interval(outcome)}"
    if name == "distance":
        return (a, " and ", b, f" raters label the same items differently: distance {figure}")
    if name == "xrr":
        less = "less" if outcome.direction == "down" else "more"
        return (
            a,
            " and ",
            b,
            f" raters agree with each other {less} than chance halves of them: XRR {figure}",
        )
    if name in ("gap_a", "gap_b"):
        own, other = (a, b) if name == "gap_a" else (b, a)
        return (own, f" raters agree with each other {_than(value)} than with ", other, f": gap {figure}")
    if name == "irr_difference":
        said = f" raters agree with each other {_than(value)} than "
        return (a, said, b, f" raters do: difference in IRR {figure}")
    larger = "larger" if value > 0 else "smaller"
    return (a, f" raters’ GAI is {larger} than that of ", b, f" raters: difference {figure}")


def _than(value: float) -> str:
    return "more" if value > 0 else "less"


def _interval(outcome: Outcome) -> str:
    interval = format_interval(outcome)
    return f" {interval}" if interval else ""


def _tested(one: Outcome | LabelUse, result: RunResult) -> str:
    many = result.permutations
    return f"{p_words(one, permutations=many)}, {format_p(one.q, name='q', permutations=many)}"
