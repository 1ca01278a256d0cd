"""The answer in words, for people who manage annotation: its title, its certainty, and its support."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grasp_core.analysis.small_groups import some_hidden
from grasp_core.model.groups import Group, axis_label, one_line, spoken
from grasp_core.model.outcome import FEWEST_CLEAR, Outcome, Shift, Untestable
from grasp_core.model.result import DsiResult, GroupResult, RunResult
from grasp_core.model.spec import LEVEL
from grasp_core.model.text import Segment, Sentence, agree, number, spelled, strong
from grasp_core.report.everybody import agreement_details, agreement_title
from grasp_core.report.findings.advice import WHICH_ITEMS, advice, doubted, first_names, ranked_findings
from grasp_core.report.findings.finding import BECAUSE_OF, COHESION, LABEL_USE, NO_EFFECT, SPREAD, Finding
from grasp_core.report.findings.mending import Warned, warned
from grasp_core.report.findings.selection import (
    below_level,
    count_groups,
    judged,
    nearest,
    of_verdict,
    strongest_pair,
    too_few_permutations,
)
from grasp_core.report.tables import NO_VALUE, effect, explaining_groups, lacking
from grasp_core.report.words import names
from grasp_core.report.words.label_use import (
    A_STEP,
    higher_or_lower,
    label_for_sentence,
    mean_ends,
    of_100,
    of_scale,
    scale_outcome,
)

EVERYBODY = "everybody else"
NO_DIFFERENCE = "No difference found between groups of raters"
UNTESTABLE: Mapping[Untestable, str] = {
    "nothing-moves": "nothing is left to shuffle",
    "few-raters": "too few raters for any p below 0.05",
    "other-items": "the groups rated different items",
    "other-workload": "the groups rated different numbers of items",
    "few-permutations": "there are too few permutations",
    "not-estimable": "nothing that is tested has a value",
}
"""Reasons why groups have no verdict."""
_WHOLE_FROM = 0.03
"""Share of answers above which a sentence has no decimals: 3 of 100."""
_SMALL = 10
"""Number of raters below which a sentence warns that differences are missed more often."""
HOW_SURE = "Very sure: luck alone gives a finding in about 5 of 100 studies."
LESS_CERTAIN = "These raters do differ; how much other raters would is less certain."


def title(result: RunResult, found: Sequence[Finding]) -> Sentence:
    """State the clearest finding; or that there is none, or no answer."""
    if result.of_everybody:
        return agreement_title(result)
    certain = [one for one in found if not one.undone]
    if certain:
        return Sentence.of(*claim(certain[0], result), certain[0].brief).capitalized
    if found:
        return Sentence.of("Not certain: ", *claim(found[0], result), found[0].brief)
    pair = strongest_pair(result)
    if pair is not None:
        a, b = (strong(spoken(group)) for group in (pair.a, pair.b))
        use = pair.label_use if pair.verdict and "labels" in pair.verdict.kinds else None
        labels = label_for_sentence(use) if use is not None and use.significance == "corrected" else None
        if labels is not None:
            return Sentence.of(a, " raters ", *_says(*labels), b, " raters").capitalized
        return Sentence.of(a, " and ", b, " raters answer the same items differently").capitalized
    undecided = too_few_permutations(result)
    if undecided:
        few = f" ({result.permutations:,} permutations are too few)"
        return Sentence.of("Not certain: ", *claim(undecided[0], result), few)
    if not result.groups:
        return Sentence.of("No answer: there is no group to show")
    if not tested(result) or (not judged(result) and all(row.least_p is not None for row in result.groups)):
        return Sentence.of(f"No answer: {'; '.join(_reasons(result, counted=False))}")
    shown = " that are shown" if some_hidden(result) else ""
    missing = _untested(result)
    if missing:  # these may well differ: a title that speaks of all would deny it
        able = f"{tested(result)} of {number(len(result.groups), 'group')}{shown}"
        return Sentence.of(f"No difference found in {able}; {spelled(missing)} could not be tested")
    return Sentence.of(f"{NO_DIFFERENCE}{shown}")


def line(result: RunResult, found: Sequence[Finding]) -> Sentence | None:
    """Line below the title: if nothing was found, the difference that would be found; else :func:`counts`."""
    return _missed(result, found) or counts(result, found)


def _missed(result: RunResult, found: Sequence[Finding]) -> Sentence | None:
    """Say which difference would have been found; None if the title names a difference, or it is unknown."""
    return None if found or strongest_pair(result) else could_have_been_found(result)


def counts(result: RunResult, found: Sequence[Finding]) -> Sentence | None:
    """Say how many groups differ, may differ by luck, are explained by others, or show no difference."""
    if not judged(result) or not result.groups:
        return None
    groups, clear = len(result.groups), count_groups(found)
    hints, explained = count_groups(nearest(result)), of_verdict(result, "explained")
    none = sum(row.verdict is not None and row.verdict.code == "none" for row in result.groups)
    able = tested(result)
    if not able:
        return Sentence.of(f"None of {number(groups, 'group')} could be tested.")
    of_all = "" if able == groups else f"of {groups} "
    compared = f"{agree(groups, 'group', 'groups')} {agree(able, 'was', 'were')} compared with {EVERYBODY}."
    said: list[str | Segment] = [f"{spelled(able).capitalize()} {of_all}{compared}"]
    if clear:
        verb = agree(clear, "answers", "answer")
        doubtful = count_groups([one for one in found if one.undone])
        which = "" if doubtful in (0, clear) else f" of {spelled(doubtful)} of them"
        why = f"but something else may explain it{which}" if doubtful else "more than luck explains"
        said = [f"{_of_groups(clear, groups)} {verb} differently, {why}."]
    if hints:
        which = f"{spelled(hints)} {agree(hints, 'other', 'others')} the" if clear else f"{spelled(hints)} a"
        said += [" ", f"In {which} difference may be luck."]
    if explained:
        count = count_groups(explained)
        by = {explaining_groups(result, one.row) for one in explained}
        undone = {group for one in found if one.undone for group in one.groups}
        differ = "may differ" if undone.intersection(*by) else agree(count, "differs", "differ")
        other, *others = by
        how = "from" if all(one.link_words != BECAUSE_OF for one in explained) else BECAUSE_OF
        only = f"{spelled(count).capitalize()} {differ} only {how} "
        if others or not other:
            said += [" ", f"{only}other groups."]
        else:
            said += [" ", only, *first_names(list(map(spoken, other))), " raters."]
    if none == groups:
        return Sentence.of(str(said[0]).removesuffix("."), ", and no difference was found.")
    if none:
        said += [" ", f"For {spelled(none)} no difference was found."]
    said += [f" Not tested: {reason}." for reason in _reasons(result)]
    return Sentence.of(*said)


def _of_groups(count: int, groups: int) -> str:
    if count < groups:
        return f"{spelled(count).capitalize()} of {number(groups, 'group')}"
    whole = {1: "The only", 2: "The two"}.get(groups, f"All {spelled(groups)}")
    return f"{whole} {agree(groups, 'group', 'groups')}"


def claim(one: Finding, result: RunResult) -> tuple[str | Segment, ...]:
    """Say which group answers how, compared with whom, and by how much; without the test."""
    above = () if one.part is None else (", above all ", strong(one.part.spoken), ",")
    first = (strong(one.spoken), " raters", *above, " ")
    than = (EVERYBODY,) if one.other is None else (strong(one.other.spoken), " raters")
    both = first if one.other is None else (*one.strong_names, " raters ")
    if one.vague:
        differ = "differ from each other" if one.other else f"answer differently from {EVERYBODY}"
        return (*both, differ)
    if one.what == LABEL_USE:
        return (*first, *_labels(one, result), *than)
    if one.less_united is not None:  # the first half
        return (*first, "agree with each other less than ", *than, " do")
    if one.what == "distance":
        alike = one.outcome.direction == "down"
        if one.other is not None:
            return (*both, "answer the same items ", "alike" if alike else "differently")
        if alike:
            return (*both, f"answer more like {EVERYBODY} than luck explains")
        return (*both, f"answer the same items differently from {EVERYBODY}")
    more = "less" if one.outcome.direction == "down" else "more"
    if one.what == SPREAD:
        return (*first, f"differ from each other {more} than ", *than, " do" if one.other else " does")
    if one.what in COHESION and (one.value > NO_EFFECT[one.what]) == (more == "more"):
        return (*first, f"agree with each other {more} than with ", *than)
    words = names.WORDS[one.what]
    return (*first, f"{words.less if more == 'less' else words.more} than luck explains")


def _labels(one: Finding, result: RunResult) -> tuple[str | Segment, ...]:
    """Say how a group uses labels: on a scale the shift of its mean, else the main label."""
    mean = _mean(one, result)
    if mean is not None and mean.value:
        unit = _unit(result)
        return (f"rate {of_scale(mean.value)}{unit} {higher_or_lower(mean.value)} on average than ",)
    use = one.row.label_use
    found = None if use is None else label_for_sentence(use)
    return () if found is None else _says(*found)


def _mean(one: Finding, result: RunResult) -> Outcome | None:
    """The shift of the group's mean on a scale; None if it is a small part of a step between labels."""
    level, use = result.spec.analysis.level, one.row.label_use
    mean = None if level == "nominal" else scale_outcome(use, result)
    if level != "ordinal" or use is None or mean is None or mean.value is None:
        return mean
    # With two labels, the share of one of them says the same, and is understood at once.
    return mean if len(use.labels) > 2 and abs(mean.value) >= A_STEP else None


def _backed(one: Finding, result: RunResult) -> Sentence:
    """The sentence that supports a finding; with the shift of the mean, if the title tells that."""
    mean = _mean(one, result) if one.what == LABEL_USE and not one.vague else None
    if mean is None or not mean.value:
        return one.backed
    how = f"{of_scale(mean.value)}{_unit(result)} {higher_or_lower(mean.value)}{mean_ends(mean)}"
    return Sentence((*one.backed.segments, Segment(f" On average they rate {how}.")))


def _unit(result: RunResult) -> str:
    """The unit of a shifted mean: steps between ordered labels; numbers have none."""
    return " steps" if result.spec.analysis.level == "ordinal" else ""


def _says(label: str, shift: Shift) -> tuple[str | Segment, ...]:
    amount = of_100(shift.value or 0.0)
    return ("say “", strong(one_line(label)), f"” in {amount} of 100 answers than ")


def tested(result: RunResult) -> int:
    """Number of groups that could be tested: by their verdicts; without verdicts, by their p-values."""
    if judged(result):
        return sum(row.verdict is not None and row.verdict.code != "untestable" for row in result.groups)
    return sum(
        any(outcome.p is not None for outcome in row.statistics.values())
        or (row.label_use is not None and row.label_use.p is not None)
        for row in result.groups
    )


def _untested(result: RunResult) -> int:
    """Number of groups without a verdict, if others have one."""
    return len(result.groups) - tested(result) if judged(result) else 0


def _reasons(result: RunResult, *, counted: bool = True) -> tuple[str, ...]:
    """Say why groups could not be tested, with the number of groups for each reason if `counted`."""
    if not judged(result):
        if result.groups and all(row.least_p is not None for row in result.groups):
            return (UNTESTABLE["few-raters"],)
        return (f"{names.WORDS[names.lead_statistic(result)].name} could not be tested for any group",)
    why = Counter(row.verdict.why for row in result.groups if row.verdict and row.verdict.why)
    of = {one: f" ({number(many, 'group')})" if counted else "" for one, many in why.items()}
    return tuple(f"{UNTESTABLE[one]}{groups}" for one, groups in of.items())


def how_sure(result: RunResult, found: Sequence[Finding]) -> tuple[Sentence, ...]:
    """Sentences on certainty: doubts, luck, size of the clearest finding, or what may have been missed."""
    if not tested(result) or not judged(result):
        return ()
    certain = [one for one in found if not one.undone]
    if found and not certain:
        return (Sentence.of(f"Not sure: {'; '.join(one.brief for one in found[0].doubts)}."),)
    if certain:
        return (Sentence.of(HOW_SURE), *_how_much(certain[0], result))
    groups = tested(result)
    said = [of_luck(groups)] if not all(map(below_level, nearest(result))) else []
    if any(row.n_raters < _SMALL for row in result.groups):
        said.append(f"In groups under {_SMALL} raters differences are missed more often.")
    counted = counts(result, found) if _missed(result, found) else None
    return (*(() if counted is None else (counted,)), *map(Sentence.of, said))


def of_luck(groups: int) -> str:
    """Say how many hints luck alone gives among so many groups; among few it usually gives none."""
    if (1 - LEVEL) ** groups > 0.5:
        return f"Luck alone gives about one group in {round(1 / LEVEL)} such a hint."
    usual = round(LEVEL * groups)
    hints = agree(usual, "hint", "hints")
    return f"Luck alone usually produces {spelled(usual)} such {hints} among {number(groups, 'group')}."


def _how_much(one: Finding, result: RunResult) -> tuple[Sentence, ...]:
    """Give the range of the difference with other raters and items; or say that its size is less certain."""
    if one.unsettled:
        return (Sentence.of(LESS_CERTAIN),)
    mean = _mean(one, result) if one.what == LABEL_USE else None
    if mean is not None and mean.value and mean.interval is not None:
        if mean.interval.holds(0):
            return (Sentence.of(LESS_CERTAIN),)
        few, many = map(of_scale, sorted((abs(mean.interval.low), abs(mean.interval.high))))
        way = f"{_unit(result)} {higher_or_lower(mean.value)}"
        return (Sentence.of(f"How much: {few} to {many}{way}."),)
    use = one.row.label_use
    told = label_for_sentence(use) if one.what == LABEL_USE and use is not None else None
    if told is None or told[1].low is None or told[1].high is None:
        return ()
    (_, shift), ends = told, (abs(told[1].low), abs(told[1].high))
    few, many = (of_100(math.copysign(end, shift.value or 0.0)) for end in sorted(ends))
    return (Sentence.of(f"How much: {few.split(' ')[0]} to {many} of 100 answers."),)


def could_have_been_found(result: RunResult) -> Sentence | None:
    """Say how far a lone group must differ to be clear four times in five; None if unknown."""
    found = sorted(result.findable, key=lambda one: one.shift)
    if not found:
        return None
    least, most = found[0], found[-1]
    amount = _whole(most.shift)
    # A smaller group needs a larger difference; where it seems to need less, that is noise.
    if amount != _whole(least.shift) and least.n_raters > most.n_raters:
        amount = f"{_whole(least.shift)} ({least.n_raters} raters) to {amount} ({most.n_raters} raters)"
    differences = "In the groups tested, differences" if _untested(result) else "Differences"
    return Sentence.of(
        f"{differences} of {amount} in 100 answers would very likely have shown; smaller ones may be missed."
    )


def _whole(share: float) -> str:
    return f"{100 * share:.{0 if share > _WHOLE_FROM else 1}f}"


_LISTED = 5
"""Number of groups named in one sentence; the rest is only counted."""


@dataclass(frozen=True, slots=True)
class ResultAnswer:
    """The answer: one headline, the run's warnings, and the sentences that support the headline."""

    headline: Sentence
    warned: Warned
    details: tuple[Sentence, ...]

    @property
    def in_files(self) -> tuple[Sentence, ...]:
        """The sentences for a file of the result, which has no items to look at."""
        return tuple(one for one in self.details if not one.plain.endswith(WHICH_ITEMS.plain))


def answer(result: RunResult) -> ResultAnswer:
    """Say which groups see the task differently, whether it is real, and what to do."""
    if result.of_everybody:
        return ResultAnswer(agreement_title(result), warned(result), agreement_details(result))
    found = ranked_findings(result)
    near = [doubted(one, result) for one in nearest(result)]
    first = line(result, found)
    details = [] if first is None else [first]
    details += [_backed(one, result) for one in found[:_LISTED]]
    if len(found) > _LISTED:
        details.append(Sentence.of("After correction, too: ", *listing(_figures(found[_LISTED:])), "."))
    details += _explained(result, found)
    if near:
        details.append(Sentence.of("May be luck: ", *listing(_figures(near)), "."))
    details += _undecided(result)
    details += how_sure(result, found)
    details += axes_to_watch(result)
    to_do = advice(result, found)
    details += [Sentence.of("What to do: ", *one.segments) for one in to_do[:1]]
    details += to_do[1:]
    lead = names.lead_statistic(result)
    for (lacks, reason), groups in lacking(result, lead).items():
        if lacks == NO_VALUE:
            whose = f"{names.WORDS[lead].name} {lacks} for "
            details.append(Sentence.of(whose, *first_names(groups), f": {reason}."))
    return ResultAnswer(title(result, found), warned(result), tuple(details))


def strength(outcome: Outcome) -> tuple[float, float, float]:
    """A key that sorts outcomes by their evidence, strongest first: by q, then p, then effect."""
    return (
        1.0 if outcome.q is None else outcome.q,
        1.0 if outcome.p is None else outcome.p,
        -(effect(outcome) or 0.0),
    )


def verdict_sentence(row: GroupResult, result: RunResult) -> Sentence | None:
    """State the verdict of all tests of a group together; None without a verdict."""
    verdict = row.verdict
    if verdict is None:
        return None
    if verdict.why is not None:
        return Sentence.of("No verdict: ", UNTESTABLE[verdict.why], ".")
    code, tests = strong(names.VERDICT_NAMES[verdict.code]), names.all_tests_words(verdict)
    by: list[str | Segment] = []
    if verdict.by is not None:
        whose = first_names(list(map(spoken, explaining_groups(result, row))))
        by = [": without the raters of ", *whose, " nothing is left"]
    return Sentence.of("Verdict: ", code, f" ({tests})", *by, ".")


def _explained(result: RunResult, found: Sequence[Finding]) -> list[Sentence]:
    """Sentences on groups explained by another group; `found` shows whether that group is in doubt."""
    undone = {group for one in found if one.undone for group in one.groups}
    of: dict[tuple[str, tuple[Group, ...]], list[Finding]] = {}
    for one in of_verdict(result, "explained"):
        of.setdefault((one.link_words, explaining_groups(result, one.row)), []).append(one)
    said = []
    for (how, by), explained in of.items():
        count = count_groups(explained)
        whose = first_names(list(map(spoken, by)) or ["a group that is not shown"])
        parts = (
            *first_names([one.said for one in explained]),
            f" {agree(count, 'differs', 'differ')} too, but ",
        )
        if how == BECAUSE_OF:
            they = "they may explain" if undone.intersection(by) else "they explain"
            tail = f" are left out: {they} {agree(count, 'it', 'them')}."
            said.append(Sentence.of(*parts, "no longer once the raters of ", *whose, tail))
        else:
            said.append(Sentence.of(*parts, "without the ", *whose, " raters no difference was found."))
    return said


def _undecided(result: RunResult) -> tuple[Sentence, ...]:
    """Say why groups are hints although their q is below the level."""
    near = [one for one in of_verdict(result, "hint") if below_level(one)]
    if not near:
        return ()
    why = " q is below 0.05 by so little that other permutations may say otherwise: a hint, no finding."
    if too_few_permutations(result):
        why = f" q is below 0.05, but nothing is called clear with fewer than {FEWEST_CLEAR:,} permutations."
    return (Sentence.of("Of ", *first_names([one.said for one in near]), why),)


def listing(found: Sequence[tuple[Segment, str]]) -> list[str | Segment]:
    """The first names with their figures, and how many more there are."""
    parts: list[str | Segment] = []
    for position, (name, figures) in enumerate(found[:_LISTED]):
        parts += ["; " if position else "", name, f" ({figures})"]
    return [*parts, f"; and {len(found) - _LISTED} more"] if len(found) > _LISTED else parts


def _figures(found: Sequence[Finding]) -> list[tuple[Segment, str]]:
    return [(strong(one.said), one.figures) for one in found]


def axes_to_watch(result: RunResult) -> tuple[Sentence, ...]:
    """Say along which axes recruitment matters: the axes of clear groups, with their DSI if it is marked."""
    known = {row.axes: row for row in result.dsi if row.outcome.value is not None}
    if not known or not judged(result):
        return ()
    certain = [one for one in ranked_findings(result) if not one.undone]
    said = []
    for axes in list(dict.fromkeys(one.row.group.axes for one in certain))[:3]:
        groups = first_names([one.said for one in certain if one.row.group.axes == axes])
        # A p that says nothing would mislead, and so would a ratio that comes from an XRR near 0.
        outcome = known[axes].outcome if axes in known else Outcome(None)
        marked = outcome.significance != "none" and abs(outcome.value or 0.0) <= names.LARGEST_GAI
        axis = _axis_parts(result, known[axes]) if marked else [strong(axis_label(axes))]
        why = ": who is recruited along it matters, since "
        said.append(Sentence.of("Watch ", *axis, why, *groups, " raters answer differently."))
    return tuple(said)


def _axis_parts(result: RunResult, row: DsiResult) -> list[str | Segment]:
    group = "" if row.group is None else spoken(row.group)
    attained = ", attained by " if group else ""
    return [
        strong(axis_label(row.axes)),
        f" (DSI {names.format_value(row.outcome.value)}{attained}",
        strong(group),
        f"; {names.p_and_q_words(row.outcome, permutations=result.permutations)})",
    ]
