"""Pairs of groups in words and sentences."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

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
    """Something that a matrix shows: of the row's group beside the column's one outcome.

    `signed` values lie on both sides of 0: above it means more in the row's group. A label by itself, and the
    mean, are not `tested`: label use is.
    """

    key: str
    name: str
    explanation: str
    brief_explanation: str
    signed: bool
    of: Callable[[PairResult], Outcome]
    write: Callable[[float | None], str]
    brief: Callable[[float], str]
    tested: bool = True


def of_label_use(result: RunResult) -> list[Measure]:
    """Each label, all together, then the mean where labels have one."""
    labels = dict.fromkeys(label for row in result.pairs if row.label_use for label in row.label_use.labels)
    means = any(label_use.mean_outcome(row.label_use) is not None for row in result.pairs)
    return [*map(_label, labels), *([_ALL_LABELS] if labels else []), *([_MEAN] if means else [])]


def measures(result: RunResult) -> dict[str, Measure]:
    """All that a matrix can show of this result, by key: labels first."""
    reported = {name for row in result.pairs for name in row.statistics}
    found = of_label_use(result)
    for name, told in names.TEXTS["pairs"].items():
        if name in reported:
            of, write, brief = partial(_statistic, name), names.format_value, names.two_decimals
            if name == "gai_difference":  # the gaps of both tell what it does not
                write, brief = partial(_unless_beyond, write), partial(_unless_beyond, brief)
            found.append(Measure(name, **told, of=of, write=write, brief=brief))
    return {measure.key: measure for measure in found}


def label_key(label: str) -> str:
    """The key of the measure that is the use of this label."""
    return f"label: {label}"


def _label(label: str) -> Measure:
    def of(row: PairResult) -> Outcome:
        return label_use.shift_outcome(row.label_use, label)

    words = _OF_LABELS["label"]
    return Measure(
        label_key(label),
        f"“{one_line(label)}”",
        **words,
        signed=True,
        of=of,
        write=label_use.write_points,
        brief=_whole_points,
        tested=False,
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
    """Whether it is a difference of GAI of which one comes of an XRR near 0."""
    return name == "gai_difference" and abs(outcome.value or 0.0) > names.LARGEST_GAI


def _unless_beyond(write: Callable[[float | None], str], value: float | None) -> str:
    return write(value) if abs(value or 0.0) <= names.LARGEST_GAI else f"beyond {names.LARGEST_GAI:g}"


_OF_LABELS: Mapping[str, Mapping[str, str]] = names.TEXTS["labels_of_pairs"]
_ALL_LABELS = Measure(
    "label_use",
    **_OF_LABELS["label_use"],
    signed=True,
    of=_all_labels,
    write=label_use.write_points,
    brief=_whole_points,
    tested=True,
)
_MEAN = Measure(
    "mean",
    **_OF_LABELS["mean"],
    signed=True,
    of=lambda row: label_use.mean_outcome(row.label_use) or Outcome(None),
    write=names.format_value,
    brief=names.two_decimals,
    tested=False,
)
PAIRS_SAID = 5
"""Pairs of which a sentence is said where not all are."""
_OF_KIND: Mapping[Kind, tuple[str, ...]] = {
    "labels": (LABEL_USE,),
    "items": ("distance",),
    "cohesion": ("gap_a", "gap_b"),
    "spread": (),
}
"""The measures of which one tells of each kind of difference."""
_NOTHING: str = names.TEXTS["explained"]["no_pair"]
_Parts = tuple[str | Segment, ...]


class _Told(NamedTuple):
    """Something that was tested of a pair and has a value, with its words."""

    name: str
    test: Outcome | LabelUse
    parts: _Parts

    @property
    def key(self) -> str:
        """Of its measure."""
        if isinstance(self.test, LabelUse):
            return label_key(str(self.test.most))
        return "gap_a" if self.name == "gap_b" else self.name

    @property
    def p(self) -> float:
        """Of its test."""
        return 1.0 if self.test.p is None else self.test.p


def pair_sentences(row: PairResult, result: RunResult) -> tuple[Sentence, ...]:
    """What is found of a pair, or a hint of it; or that nothing is."""
    before = "A hint, no finding: " if row.verdict is not None and row.verdict.code == "hint" else ""
    said: list[Sentence] = []
    named = False
    for one in _told(row):
        label = () if named else _direction(row, one)
        named = named or bool(label) or one.test is row.label_use
        said.append(_sentence(row, one, result, label, "" if said else before))
    why = None if row.verdict is None else row.verdict.why
    return tuple(said) or (Sentence.of(_NOTHING if why is None else f"Not tested: {UNTESTABLE[why]}."),)


def _sentence(row: PairResult, one: _Told, result: RunResult, label: _Parts, before: str) -> Sentence:
    """What may undo it, what was found, its test, and which label goes with it."""
    what = {LABEL_USE: LABEL_USE, "gap_a": "gap", "gap_b": "gap"}.get(one.name, one.name)
    undoing = lead(doubts(result, About(row.a.axes, (row.a, row.b), what)))
    tested = names.p_and_q_words(one.test, permutations=result.permutations)
    if row.verdict is not None:
        tested = names.together_words(row.verdict)
    return Sentence.of(before, undoing, *one.parts, f"; {tested}", *label, ".")


def _direction(row: PairResult, one: _Told) -> _Parts:
    """The pair's own label use, beside what is told of it by a statistic."""
    if isinstance(one.test, LabelUse):
        return ()
    a, b = _both(row)
    return label_use.direction(row.label_use, a, " raters", than=b)


def _told(row: PairResult) -> list[_Told]:
    """What is told of a pair: of a clear one, or a hint, the ways in which the two differ."""
    found = _found(row)
    if row.verdict is None:
        return [one for mark in ("corrected", "nominal") for one in found if one.test.significance == mark]
    if row.verdict.code not in ("clear", "hint"):
        return []
    told = [_first([one for one in found if one.name in _OF_KIND[kind]]) for kind in row.verdict.kinds]
    named = [one for one in told if one is not None]
    return named or [one for one in (_first(found),) if one is not None]


def _first(found: Sequence[_Told]) -> _Told | None:
    return min(found, key=lambda one: one.p, default=None)


def foremost_pairs(result: RunResult, of: Group | None = None) -> list[PairResult]:
    """Pairs that are clear, of one group where it is named, strongest first."""
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
    """The place of the pair with the strongest evidence of anything; the first without any."""
    return min(range(len(rows)), key=lambda place: _q(rows[place]))


def told_first(row: PairResult) -> str | None:
    """The key of the measure that a pair's first sentence is about; of its distance where nothing is told."""
    told = _told(row) or [one for one in _found(row) if one.name == "distance"]
    return told[0].key if told else None


def seen_from(result: RunResult, group: Group) -> tuple[PairResult, ...]:
    """The pairs of a group, as it beside the other one."""
    of_group = (row for row in result.pairs if group in (row.a, row.b))
    return tuple(row if row.a == group else row.turned() for row in of_group)


def most_told(result: RunResult, most: int) -> tuple[Sentence, ...]:
    """The strongest sentence of each pair that holds after correction, at most so many, and what is left."""
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
    """Whether other raters may show no difference, by the interval of what is told first."""
    if not told or told[0].name == "xrr":  # whose 0 is chance
        return False
    of = told[0].test
    shift = None if isinstance(of, Outcome) else label_use.said_more(of)
    interval = of.interval if isinstance(of, Outcome) else label_use.interval_of(of, shift and shift[1])
    return interval is not None and interval.holds(0)


def _nearest(result: RunResult) -> tuple[Sentence, ...]:
    """What came nearest to a finding: of a hint with the smallest q, what is told first of it."""
    row = result.pairs[strongest(result.pairs)] if result.pairs else None
    hint = row is not None and row.verdict is not None and row.verdict.code == "hint"
    return pair_sentences(row, result)[:1] if row is not None and hint else ()


def _both(row: PairResult) -> tuple[Segment, Segment]:
    return strong(spoken(row.a)), strong(spoken(row.b))


def _found(row: PairResult) -> list[_Told]:
    """All that was tested of a pair and has a value."""
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
