"""Doubts that may undo a finding, and advice."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from grasp_core.model.data_spec import NAMED, SCREENS, Screen
from grasp_core.model.groups import AxisSet, Group, axis_label, group_label, named_group, spoken
from grasp_core.model.outcome import FEWEST_CLEAR, Untestable
from grasp_core.model.remarks.cautions import GuardCaution, ScreenCaution, counts_by_group, leaving_out
from grasp_core.model.result import RunResult
from grasp_core.model.spec import AnalysisSpec
from grasp_core.model.text import Segment, Sentence, strong
from grasp_core.report.findings.finding import LABEL_USE, Doubt, Finding
from grasp_core.report.findings.selection import (
    explaining_axis,
    findings,
    still_differing,
    strongest_pair,
    too_few_permutations,
)

OF_GAI = ("gai", "gap", "irr", "gai_difference", "irr_difference")
MANY = 0.1
"""Smallest share of a group's raters that may explain the group's finding if a screen names them."""
_WHY: dict[Screen, tuple[str, str]] = {
    "random": ("Perhaps raters who did not read", "agree with the others no more than chance does"),
    "constant": ("Perhaps raters who did not look", "gave one label always"),
    "duplicates": ("Perhaps one rater under several names", "are of pairs who agree too closely"),
}
SAME_ITEMS = (
    "have all groups rate the same items, or, where a column says who was given what, such as the batch, "
    "shuffle only within it (--within)"
)
SAME_WORKLOAD = "shuffle within raters of like workload (--within workload)"


@dataclass(frozen=True, slots=True)
class About:
    """Subject of a doubt: one statistic of these groups of an axis or intersection."""

    axes: AxisSet
    groups: tuple[Group, ...]
    what: str


def ranked_findings(result: RunResult) -> tuple[Finding, ...]:
    """Findings with their doubts; findings that no doubt undoes come first, and groups before their parts."""
    found = sorted((doubted(one, result) for one in findings(result)), key=lambda one: one.undone)
    for one in list(found):
        whole = next((other for other in found if _holds(other, one)), None)
        if whole is not None and found.index(one) < found.index(whole):
            found.remove(whole)
            found.insert(found.index(one), replace(whole, part=one))
    return tuple(found)


def _holds(whole: Finding, part: Finding) -> bool:
    """Return whether one group is part of the other, and both certainly differ in the same way."""
    ways = [(one.what, one.label, one.outcome.direction, one.vague, one.undone) for one in (whole, part)]
    inside = whole.row.group.key < part.row.group.key
    return inside and ways[0] == ways[1] and not (part.vague or part.undone or part.part)


def doubted(one: Finding, result: RunResult) -> Finding:
    """A finding with its doubts."""
    return replace(one, doubts=doubts(result, About(one.row.group.axes, one.groups, one.what)))


def doubts(result: RunResult, about: About) -> tuple[Doubt, ...]:
    """All doubts that may undo a finding, or limit it."""
    return (*_of_items(result, about), *_of_screens(result, about), *_of_other_axes(result, about))


def _of_items(result: RunResult, about: About) -> Iterator[Doubt]:
    """Doubts because groups were given different items, or different numbers of items."""
    check = next((one for one in result.assignment if one.axes == about.axes and one.large), None)
    if check is None:
        return
    axis, names = axis_label(about.axes), {group_label(group) for group in about.groups}
    refuted = None  # by a GAI that differs over the same items
    for one in result.warnings:
        numbers = dict(one.numbers)
        if (
            one.code is GuardCaution.GAI_OF_OTHER_ITEMS
            and about.what in OF_GAI
            and numbers["axis"] == axis
            and numbers["group"] in names
        ):
            refuted = refuted or f"GAI {numbers['gai']:.2f} is {numbers['matched']:.2f} there"
    if refuted is not None:
        yield Doubt(f"Not over the same items ({refuted})", "not over the same items", SAME_ITEMS)
    elif check.own_items:
        yield _given(about, f"groups by {axis} were given different items", "the items", SAME_ITEMS)
    if check.own_workload and check.workload is not None:
        busy = group_label(check.workload.group)
        why = f"raters of {busy} gave {check.workload.size:.2f} times as many annotations as the others"
        yield _given(about, why, "how much they rated", SAME_WORKLOAD)


def _given(about: About, why: str, cause: str, mend: str) -> Doubt:
    if about.what == LABEL_USE:  # label use compares labels of the same items
        on = "on the items that both sides rated"
        return Doubt(f"O{on[1:]} ({why})", on, mend, undoes=False)
    return Doubt(f"Perhaps {cause}, not the raters ({why})", f"perhaps it is {cause}", mend)


def _of_screens(result: RunResult, about: About) -> Iterator[Doubt]:
    """Doubts because a screen names raters of the group, or of the only other group."""
    of_axes = [row for row in result.groups if row.group.axes == about.axes]
    rows = [row for row in of_axes if row.group in about.groups or len(of_axes) == 2]
    for one in result.warnings:
        if one.code is not ScreenCaution.SCREENED_IN_GROUPS:
            continue
        counts, of = counts_by_group(one), dict(one.numbers)["screen"]
        screen = next((name for name in SCREENS if of in (SCREENS[name], NAMED[name])), None)
        if screen is None or (screen == "random" and about.what == LABEL_USE):
            continue
        for row in rows:
            named = counts.get(named_group(row.group), 0)
            if named >= MANY * row.n_raters:
                lead, do = _WHY[screen]
                who = f"{named} of {row.n_raters} {group_label(row.group)}"
                mend = f"leave these raters out: {leaving_out(screen)}"
                yield Doubt(f"{lead} ({who} {do})", f"{who} {do}", mend)


def _of_other_axes(result: RunResult, about: About) -> Iterator[Doubt]:
    """Doubts because of axes that go with this one, or given which the difference disappears."""
    tested = {found.column: found for found in result.given}
    axis = axis_label(about.axes)
    settled: set[str] = set()
    for column, found in tested.items():
        here = {row.group for row in found.groups} & set(about.groups)
        if not here:
            continue
        settled.add(column)
        if not here & still_differing(result, found):
            given = axis_label((column,))
            lead = f"No longer given {given} ({given} may stand behind it, or too few raters may move)"
            yield Doubt(lead, f"no longer given {given}", f"do not recruit by {axis}: see what {given} tells")
    for one in result.associations:
        other = explaining_axis(result, one, about.axes)
        if other is None or other in settled:
            continue
        own = axis_label((one.first if other == one.second else one.second,))
        named = axis_label((other,))
        both = f"{axis_label((one.first,))} and {axis_label((one.second,))}"
        mend = f"see which of {both} matters: test each given the other (under Compare groups, or by --given)"
        if one.one_split:
            mend = f"see which of {both} matters: ask raters for whom the two differ"
        lead = f"Perhaps {named}, which goes with {own} (Cramér's V {one.v:.2f})"
        yield Doubt(lead, f"perhaps it is {named}", mend)


_NAMED = 3
_OWN_VIEW = ("gai", "gap")
_LITTLE_AGREEMENT = ("irr", "gai", "gap", "negentropy", "plurality_size")
WHICH_ITEMS = Sentence.of("See which items cause the difference.")
MENDS: Mapping[Untestable, str] = {"other-items": SAME_ITEMS, "other-workload": SAME_WORKLOAD}
"""Ways to make groups testable, by the reason why they are not."""


def advice(result: RunResult, found: Sequence[Finding]) -> tuple[Sentence, ...]:
    """Advise how to remove doubts, then whom to recruit or ask; without findings, how to find more."""
    if not found and result.groups and all(row.least_p is not None for row in result.groups):
        return (_more_ways(result.spec.analysis),)
    pair = None if found else strongest_pair(result)
    if pair is not None:
        a, b = (strong(spoken(group)) for group in (pair.a, pair.b))
        return (_as_many(a, " and ", b),)
    mended = [
        MENDS[why] for why in MENDS if any(row.verdict and row.verdict.why == why for row in result.groups)
    ]
    if not found and mended:
        return (Sentence.of(f"First {'; '.join(mended)}."),)
    if not found and too_few_permutations(result):
        return (Sentence.of(f"Run it again with {FEWEST_CLEAR:,} permutations or more."),)
    if not found:
        return (
            (Sentence.of("Nothing, unless smaller differences matter: then ask more raters."),)
            if result.findable
            else ()
        )
    certain = [one for one in found if not one.undone]
    mends = dict.fromkeys(doubt.mend for one in found for doubt in one.doubts)
    until = "" if certain else " Until then, recruit nobody for this."
    first = (Sentence.of(f"First {'; '.join(mends)}.{until}"),) if mends else ()
    return (*first, *_of_certain(certain, result.data.raters))


def _more_ways(asked: AnalysisSpec) -> Sentence:
    """Advise how to have more regroupings."""
    more = ["within fewer strata"] * bool(asked.strata) + ["single raters in place of clusters"] * bool(
        asked.cluster
    )
    if not more:
        return Sentence.of("Ask more raters: so few can be regrouped in too few ways.")
    return Sentence.of(
        f"Ask more raters, or shuffle {' and '.join(more)}, so that more regroupings are left."
    )


def _of_certain(found: Sequence[Finding], raters: int) -> Iterator[Sentence]:
    # Groups that answer items differently, or agree more inside than across groups.
    views = [
        one
        for one in found
        if one.apart or one.vague or (one.what in _OWN_VIEW and one.outcome.direction == "up")
    ]
    alone = [one for one in views if one.other is None]
    little = [
        one
        for one in found
        if one not in views and one.what in _LITTLE_AGREEMENT and one.outcome.direction == "down"
    ]
    halves = [one for one in found if one.less_united is not None and one.what != LABEL_USE]
    # A group with half of all raters has enough of them.
    many = [one for one in alone if 2 * one.row.n_raters >= raters]
    few = [one for one in alone if one not in many]
    if few:
        whom = first_names(_with_parts(few))
        yield Sentence.of("Recruit more ", *whom, " raters: others cannot stand in for them.")
    if many:
        whom = first_names(_with_parts(many))
        yield Sentence.of("Keep the share of ", *whom, " raters fixed: it moves the labels.")
    for one in views:
        if one.other is not None and one not in halves:
            yield _as_many(*first_names([one.said]))
    if little or halves:
        do = " raters agree little with each other: read items with them, and give each item more of them."
        whose = [one.spoken for one in halves] + _with_parts([one for one in little if one not in halves])
        yield Sentence.of(*first_names(whose), do)
    if any(one.apart for one in views):
        yield WHICH_ITEMS
    if found and not views and not little and not halves:
        yield Sentence.of("Nothing for this alone: raters who agree more than others need no further ones.")


def _with_parts(found: Sequence[Finding]) -> list[str]:
    """Names of the groups of findings; a part is named together with its group."""
    parts = {one.part.groups for one in found if one.part is not None}
    return [one.said_with_part for one in found if one.groups not in parts]


def _as_many(*both: str | Segment) -> Sentence:
    return Sentence.of(
        "Keep ",
        *both,
        " raters in the proportion of the people whom the labels are for: the mix moves the labels.",
    )


def first_names(titles: Sequence[str]) -> list[str | Segment]:
    """The first three names, and the number of others; names with commas are separated by semicolons."""
    shown = titles[:_NAMED]
    comma = ";" if any("," in name for name in shown) else ","
    rest = len(titles) - len(shown)
    parts: list[str | Segment] = []
    for place, name in enumerate(shown):
        last = place == len(shown) - 1 and not rest
        before_last = f"{comma} and " if comma == ";" or len(shown) > 2 else " and "
        parts += ["" if not place else before_last if last else f"{comma} ", strong(name)]
    return [*parts, f"{comma} and {rest} more"] if rest else parts
