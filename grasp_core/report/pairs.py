"""Pairs of groups in words and sentences."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from grasp_core.model.groups import Group, one_line, spoken
from grasp_core.model.outcome import Kind, LabelUse, Outcome, PairResult
from grasp_core.model.result import RunResult
from grasp_core.model.text import Segment, Sentence, strong
from grasp_core.report.findings.advice import About, doubts
from grasp_core.report.findings.answer import LESS_CERTAIN, UNTESTABLE
from grasp_core.report.findings.finding import LABEL_USE, lead
from grasp_core.report.words import label_use, names

PAIRS_EXPLANATION: str = names.TEXTS["explained"]["pairs"]


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure that a matrix shows: one outcome of the row's group, compared with the column's group.

    `signed` values lie on both sides of 0: above 0 means more in the row's group.
    """

    key: str
    name: str
    explanation: str
    brief_explanation: str
    signed: bool
    of: Callable[[PairResult], Outcome]
    write: Callable[[float | None], str]
    brief: Callable[[float], str]


def of_label_use(result: RunResult) -> list[Measure]:
    """Measures of label use: each label, all labels together, then the mean if labels have one."""
    labels = dict.fromkeys(label for row in result.pairs if row.label_use for label in row.label_use.labels)
    means = any(_mean(result, row).value is not None for row in result.pairs)
    mean = [_MEAN(of=partial(_mean, result))] if means else []
    return [*map(_label, labels), *([_ALL_LABELS] if labels else []), *mean]


def _mean(result: RunResult, row: PairResult) -> Outcome:
    return label_use.scale_outcome(row.label_use, result) or Outcome(None)


def measures(result: RunResult) -> dict[str, Measure]:
    """All measures that a matrix can show for this result, by key; labels first."""
    reported = {name for row in result.pairs for name in row.statistics}
    found = of_label_use(result)
    for name, told in names.TEXTS["pairs"].items():
        if name in reported:
            of, write, brief = partial(_statistic, name), names.format_value, names.two_decimals
            if name == "gai_difference":  # the gaps of both groups show the rest
                write, brief = partial(_unless_beyond, write), partial(_unless_beyond, brief)
            found.append(Measure(name, **told, of=of, write=write, brief=brief))
    return {measure.key: measure for measure in found}


def label_key(label: str) -> str:
    """Key of the measure for the use of this label."""
    return f"label: {label}"


def _label(label: str) -> Measure:
    name, words = f"“{one_line(label)}”", _OF_LABELS["label"]
    return _IN_POINTS(
        label_key(label), name, **words, of=lambda row: label_use.shift_outcome(row.label_use, label)
    )


def _whole_points(points: float) -> str:
    return label_use.format_points(round(points) / 100).removesuffix(".0")


def _all_labels(row: PairResult) -> Outcome:
    use = row.label_use
    if use is None or use.most is None:
        return Outcome(None, reason=None if use is None else use.reason)
    return label_use.tested_as(label_use.shift_outcome(use, use.most), use)


def _statistic(name: str, row: PairResult) -> Outcome:
    outcome = row.statistics.get(name, Outcome(None))
    return replace(outcome, interval=None) if _beyond(name, outcome) else outcome


def _beyond(name: str, outcome: Outcome) -> bool:
    """Return whether this is a difference of GAI so large that it comes from an XRR near 0."""
    return name == "gai_difference" and abs(outcome.value or 0.0) > names.LARGEST_GAI


def _unless_beyond(write: Callable[[float | None], str], value: float | None) -> str:
    return write(value) if abs(value or 0.0) <= names.LARGEST_GAI else f"beyond {names.LARGEST_GAI:g}"


_OF_LABELS: Mapping[str, Mapping[str, Any]] = names.TEXTS["labels_of_pairs"]
_IN_POINTS = partial(Measure, signed=True, write=label_use.write_points, brief=_whole_points)
_ALL_LABELS = _IN_POINTS("label_use", **_OF_LABELS["label_use"], of=_all_labels)
_MEAN = partial(
    Measure,
    "mean",
    **_OF_LABELS["mean"],
    signed=True,
    write=names.format_value,
    brief=names.two_decimals,
)
PAIRS_SAID = 5
"""Number of pairs that get a sentence, where not all pairs do."""
_OF_KIND: Mapping[Kind, tuple[str, ...]] = {
    "labels": (LABEL_USE,),
    "items": ("distance",),
    "cohesion": ("gap_a", "gap_b"),
    "spread": (),
}
"""Measures for each kind of difference; a sentence reports one of them."""
_NOTHING: str = names.TEXTS["explained"]["no_pair"]
_Parts = tuple[str | Segment, ...]


class _Told(NamedTuple):
    """A test of a pair that has a value, with its words."""

    name: str
    test: Outcome | LabelUse
    parts: _Parts

    @property
    def key(self) -> str:
        """Key of its measure."""
        if isinstance(self.test, LabelUse):
            named = label_use.label_for_sentence(self.test)
            return label_key(str(self.test.most if named is None else named[0]))
        return "gap_a" if self.name == "gap_b" else self.name

    @property
    def p(self) -> float:
        """P-value of its test; 1 if there is none."""
        return 1.0 if self.test.p is None else self.test.p


def pair_sentences(row: PairResult, result: RunResult) -> tuple[Sentence, ...]:
    """Sentences on what was found for a pair, or hinted at; or one that nothing was found or tested."""
    before = "A hint, no finding: " if _is_hint(row) else ""
    said: list[Sentence] = []
    named = False
    for one in _told(row):
        label = () if named else _direction(row, one)
        named = named or bool(label) or one.test is row.label_use
        said.append(_sentence(row, one, result, label, "" if said else before))
    if not said and row.verdict is not None and row.verdict.code == "clear":
        said.append(_unnamed(row, result))
    why = None if row.verdict is None else row.verdict.why
    return tuple(said) or (Sentence.of(_NOTHING if why is None else f"Not tested: {UNTESTABLE[why]}."),)


def _sentence(row: PairResult, one: _Told, result: RunResult, label: _Parts, before: str) -> Sentence:
    """One sentence: doubts, a difference of the pair, its test, and the label that goes with it."""
    what = {LABEL_USE: LABEL_USE, "gap_a": "gap", "gap_b": "gap"}.get(one.name, one.name)
    undoing = lead(doubts(result, About(row.a.axes, (row.a, row.b), what)))
    tested = names.p_and_q_words(one.test, permutations=result.permutations)
    if row.verdict is not None:
        tested = names.all_tests_words(row.verdict)
    return Sentence.of(before, undoing, *one.parts, f"; {tested}", *label, ".")


def _is_hint(row: PairResult | None) -> bool:
    return row is not None and row.verdict is not None and row.verdict.code == "hint"


def _unnamed(row: PairResult, result: RunResult) -> Sentence:
    """A sentence on a clear pair of which no single test holds by itself, with the label as a hint."""
    a, b = _both(row)
    apart = _Told("distance", Outcome(None), (a, " and ", b, " raters answer the same items differently"))
    return _sentence(row, apart, result, _direction(row, apart), "")


def _direction(row: PairResult, one: _Told) -> _Parts:
    """The pair's label use in words, to follow a statistic; empty if the test is of label use."""
    if isinstance(one.test, LabelUse):
        return ()
    a, b = _both(row)
    return label_use.direction(row.label_use, a, " raters", than=b, hint=_is_hint(row))


def _told(row: PairResult) -> list[_Told]:
    """Return the tests to report for a pair: for a clear pair or a hint, one for each kind of difference.

    Of a clear pair only tests that hold by themselves: all tests together may be clear where none of them is.
    A distance says no more than all tests together.
    """
    found = _found(row)
    if row.verdict is None:
        return [one for mark in ("corrected", "nominal") for one in found if one.test.significance == mark]
    if row.verdict.code not in ("clear", "hint"):
        return []
    told = [_first([one for one in found if one.name in _OF_KIND[kind]]) for kind in row.verdict.kinds]
    named = [one for one in told if one is not None] or [one for one in (_first(found),) if one is not None]
    if row.verdict.code == "hint":
        return named
    return [one for one in named if one.name == "distance" or one.test.significance == "corrected"]


def _first(found: Sequence[_Told]) -> _Told | None:
    return min(found, key=lambda one: one.p, default=None)


def foremost_pairs(result: RunResult, of: Group | None = None) -> list[PairResult]:
    """Clear pairs, strongest first; only pairs of one group if it is named."""
    clear = []
    for row in result.pairs if of is None else seen_from(result, of):
        marked = any(one.test.significance == "corrected" for one in _found(row))
        if marked if row.verdict is None else row.verdict.code == "clear":
            clear.append(row)
    return sorted(clear, key=_q)


def _q(row: PairResult) -> tuple[float, float]:
    """A key that sorts pairs by their evidence, strongest first."""
    if row.verdict is not None:
        p, q = row.verdict.p, row.verdict.q
        return (1.0 if q is None else q, 1.0 if p is None else p)
    return (min((1.0 if one.test.q is None else one.test.q for one in _found(row)), default=1.0), 0.0)


def strongest(rows: Sequence[PairResult]) -> int:
    """Index of the pair with the strongest evidence; the first pair if none has any."""
    return min(range(len(rows)), key=lambda place: _q(rows[place]))


def told_first(row: PairResult) -> str | None:
    """Key of the measure in a pair's first sentence; its distance if nothing is reported."""
    told = _told(row) or [one for one in _found(row) if one.name == "distance"]
    return told[0].key if told else None


def seen_from(result: RunResult, group: Group) -> tuple[PairResult, ...]:
    """The pairs of a group, each with this group first."""
    of_group = (row for row in result.pairs if group in (row.a, row.b))
    return tuple(row if row.a == group else row.turned() for row in of_group)


def most_told(result: RunResult, most: int) -> tuple[Sentence, ...]:
    """First sentences of the clear pairs, strongest first, at most so many, and the number of the others."""
    found = foremost_pairs(result)
    if result.pairs and all(row.verdict is not None and row.verdict.why for row in result.pairs):
        return pair_sentences(result.pairs[0], result)
    if not found:
        return (Sentence.of("No two groups of an axis differ for certain."), *_nearest(result))
    told = [pair_sentences(row, result)[0] for row in found[:most]]
    left = len(found) - most
    if left > 0:
        pairs = "One more pair differs" if left == 1 else f"{left} more pairs differ"
        told.append(Sentence.of(f"{pairs}, too, more than luck explains."))
    if any(_may_be_0(_told(row)) for row in found[:most]):
        told.append(Sentence.of(f"Where brackets hold 0: {LESS_CERTAIN[0].lower()}{LESS_CERTAIN[1:]}"))
    return tuple(told)


def _may_be_0(told: Sequence[_Told]) -> bool:
    """Return whether the interval of the first test includes 0: other raters may show no difference."""
    if not told or told[0].name == "xrr":  # 0 is chance for XRR
        return False
    of = told[0].test
    shift = None if isinstance(of, Outcome) else label_use.label_for_sentence(of)
    interval = of.interval if isinstance(of, Outcome) else label_use.interval_of(of, shift and shift[1])
    return interval is not None and interval.holds(0)


def _nearest(result: RunResult) -> tuple[Sentence, ...]:
    """The first sentence on the pair with the smallest q if it is a hint; else empty."""
    row = result.pairs[strongest(result.pairs)] if result.pairs else None
    hint = _is_hint(row)
    return pair_sentences(row, result)[:1] if row is not None and hint else ()


def _both(row: PairResult) -> tuple[Segment, Segment]:
    return strong(spoken(row.a)), strong(spoken(row.b))


def _found(row: PairResult) -> list[_Told]:
    """All tests of a pair that have a value."""
    a, b = _both(row)
    found = []
    if row.label_use is not None and (said := label_use.manner(row.label_use, b)):
        found.append(_Told(LABEL_USE, row.label_use, (a, " raters ", *said)))
    for name, outcome in row.statistics.items():
        if outcome.value is not None and not _beyond(name, outcome):
            found.append(_Told(name, outcome, _words(name, outcome, outcome.value, a, b)))
    return found


def _words(name: str, outcome: Outcome, value: float, a: Segment, b: Segment) -> _Parts:
    figure = f"{names.format_value(value)} {names.format_interval(outcome.interval)}".rstrip()
    than = "more" if value > 0 else "less"
    if name == "distance":
        return (a, " and ", b, f" raters label the same items differently: distance {figure}")
    if name == "xrr":
        less = "less" if outcome.direction == "down" else "more"
        said = f" raters agree across the two groups {less} than random halves of them would: XRR {figure}"
        return (a, " and ", b, said)
    if name in ("gap_a", "gap_b"):
        own, other = (a, b) if name == "gap_a" else (b, a)
        return (own, f" raters agree with each other {than} than with ", other, f": gap {figure}")
    if name == "irr_difference":
        said = f" raters agree with each other {than} than "
        return (a, said, b, f" raters do: difference in IRR {figure}")
    larger = "larger" if value > 0 else "smaller"
    return (a, f" raters’ GAI is {larger} than that of ", b, f" raters: difference {figure}")
