"""A finding: a statistic of one group, or of the two halves of an axis, compared with chance, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from grasp_core.model.groups import Group, group_label, one_line, spoken
from grasp_core.model.outcome import Outcome, Verdict
from grasp_core.model.result import GroupResult
from grasp_core.model.spec import CROSS_GROUP
from grasp_core.model.statistic import TABLE
from grasp_core.model.text import Segment, Sentence, number, strong
from grasp_core.report.words import names
from grasp_core.report.words.label_use import (
    centre,
    direction,
    format_points,
    label_for_sentence,
    manner,
    spread,
)

LABEL_USE = "label_use"
SPREAD = "spread"
SYMMETRIC = (LABEL_USE, *(name for name, one in TABLE.items() if one.symmetric), SPREAD)
"""Statistics that are the same for both halves of an axis of two values."""
_BETWEEN = {
    "distance": ("differ on the same items more", "differ on the same items less"),
    "xrr": ("agree across the two groups more", "agree across the two groups less"),
    "voting_agreement": (
        "have the same majority answer more often",
        "have the same majority answer less often",
    ),
}
"""Words on how two halves differ, for values above and below the median of random groupings."""
SPREAD_WORDS = names.StatisticWords(**names.TEXTS["spread"])
_THAN_RANDOM = "than random groups of their size would"
NO_EFFECT = {LABEL_USE: 0.0} | {
    name: one.no_effect for name, one in TABLE.items() if one.no_effect is not None
}
"""Value of each statistic if the group does not differ."""
COHESION = ("gai", "gap")
"""Statistics that compare agreement inside a group with agreement across groups."""


BECAUSE_OF = "because of"


@dataclass(frozen=True, slots=True)
class Doubt:
    """A doubt that `undoes` a finding or limits it; `lead` comes before the finding, `brief` after it."""

    lead: str
    brief: str
    mend: str
    undoes: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """One statistic of one group, compared with chance.

    `what` is the statistic, or label use: then `label` is the label furthest from chance, and the outcome is
    its difference of shares (0.11 is 11 percentage points). `further` are other findings on the group. On an
    axis of two values, `other` is the same finding for the other half. `doubts` come before the finding. If
    there is a `verdict` of all tests together, `what` is the first statistic that is significant on its own.
    `vague` means that none is: `what` only has the smallest p. `part` is a group within this one that differs
    more, in the same way; both are reported together.
    """

    row: GroupResult
    name: str
    what: str
    outcome: Outcome
    label: str | None = None
    further: tuple["Finding", ...] = ()
    other: "Finding | None" = None
    doubts: tuple[Doubt, ...] = ()
    verdict: Verdict | None = None
    vague: bool = False
    part: "Finding | None" = None

    @property
    def undone(self) -> bool:
        """True if a doubt may undo the finding."""
        return any(one.undoes for one in self.doubts)

    @property
    def brief(self) -> str:
        """Its doubts in brackets, to follow a name; empty without doubts."""
        return f" ({'; '.join(one.brief for one in self.doubts)})" if self.doubts else ""

    @property
    def value(self) -> float:
        """The observed value."""
        return self.outcome.value or 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """The group's name, or the names of both halves."""
        return (self.name,) if self.other is None else (self.name, self.other.name)

    @property
    def spoken(self) -> str:
        """The group's name in a sentence, with its axis if the values say too little alone."""
        group, alone = self.row.group, spoken(self.row.group)
        with_axis = alone != " ".join(map(one_line, group.values))
        return alone if with_axis or self.name == group_label(group) else self.name

    @property
    def said(self) -> str:
        """The group's name, or the names of both halves, in a sentence."""
        return " and ".join(one.spoken for one in (self, self.other) if one is not None)

    @property
    def said_with_part(self) -> str:
        """The names of :attr:`said`, then the part of the group that differs most."""
        return self.said if self.part is None else f"{self.said}, above all {self.part.said}"

    @property
    def groups(self) -> tuple[Group, ...]:
        """The group, or both halves."""
        return (self.row.group,) if self.other is None else (self.row.group, self.other.row.group)

    @property
    def less_united(self) -> "Finding | None":
        """The half whose raters agree less with each other, if those of the other agree more; else None."""
        if self.other is None or self.verdict is None or "cohesion" not in self.verdict.kinds:
            return None
        for name in COHESION:
            ways = {
                half.row.statistics[name].direction: half
                for half in (self, self.other)
                if name in half.row.statistics
            }
            if {"up", "down"} <= ways.keys():
                return ways["down"]
        return None

    @property
    def link_words(self) -> str:
        """Link to the group that explains it: "from" for a group of the same axis, else "because of"."""
        by = None if self.verdict is None else self.verdict.by
        return "from" if by is not None and by.axes == self.row.group.axes else BECAUSE_OF

    @property
    def title(self) -> str:
        """The group's name, or the names of both halves, as a title."""
        return " and ".join(self.names)

    @property
    def tested_sentence(self) -> Sentence:
        """Sentence on how the group differs in this statistic, by how much, and the test."""
        raters = number(self.row.n_raters, "rater") if self.other is None else f"{self._sizes} raters"
        return Sentence.of(lead(self.doubts), f"These {raters} ", *self._how, f"; {self.tested}.")

    @property
    def backed(self) -> Sentence:
        """Sentence on the group, how it differs, by how much, the test, and its further findings."""
        # Name the half, unless the value is the same for both.
        others = ", ".join(
            one._value if self.other is None or one.what in SYMMETRIC else f"{one._value} of {one.name}"
            for one in self.further
        )
        after = "" if self.verdict else "after correction "
        also = f"; {after}also {others}" if others else ""
        who = (*self.strong_names, f" raters (n = {self._sizes}) ")
        which: tuple[str | Segment, ...] = ()  # the label that is said more often
        if self.what != LABEL_USE and not self.vague:
            use, other = self.row.label_use, self.other
            halves = () if other is None else (self.spoken, " raters")
            which = direction(use, *halves, than=None if other is None else other.spoken)
        return Sentence.of(lead(self.doubts), *who, *self._how, f", {self._p_and_q}", *which, f"{also}.")

    @property
    def figures(self) -> str:
        """Value, interval and test in brief, for a list."""
        same = self.other is None or (self.what in SYMMETRIC and self.what != LABEL_USE)
        whose = "" if same else f"{self.spoken}: "
        return f"{whose}{self._value}, {self._p_and_q}{''.join(f'; {one.brief}' for one in self.doubts)}"

    @property
    def apart(self) -> bool:
        """True if the finding shows that the group and the others answer the same items differently."""
        less_alike = self.what in CROSS_GROUP and self.outcome.direction == "down"
        return less_alike or self.what in (LABEL_USE, "distance")

    @property
    def size(self) -> float:
        """Distance of the value from the mean of the shuffled values, in their standard deviations."""
        null = self.outcome.null
        return 0.0 if null is None else abs(self.value - centre(null)) / (spread(null) or 1.0)

    @property
    def tested(self) -> str:
        """Words on the test, such as "p = 0.002, q = 0.035: after correction"."""
        if self.verdict is not None:
            return f"{self._p_and_q}: {names.VERDICT_NAMES[self.verdict.code]}"
        use = self.row.label_use
        jackknifed = self.what == LABEL_USE and use is not None and use.test == "jackknife"
        how = " by leaving raters out" if jackknifed else ""
        return f"{self._p_and_q}{how}: {names.SIGNIFICANCE_NAMES[self.outcome.significance]}"

    @property
    def unsettled(self) -> bool:
        """True if its interval includes the value of no difference."""
        interval, none = self.outcome.interval, NO_EFFECT.get(self.what)
        return interval is not None and none is not None and interval.holds(none)

    @property
    def strong_names(self) -> tuple[str | Segment, ...]:
        """The names with emphasis, to stand in a sentence."""
        first, *second = (strong(one.spoken) for one in (self, self.other) if one is not None)
        return (first, *(part for name in second for part in (" and ", name)))

    @property
    def _sizes(self) -> str:
        rows = (self.row,) if self.other is None else (self.row, self.other.row)
        return " and ".join(f"{row.n_raters:,}" for row in rows)

    @property
    def _how(self) -> tuple[str | Segment, ...]:
        """Words on how the group differs, with the statistic's value."""
        if self.what == LABEL_USE or self.vague:
            return self._does
        value = f"{words_of(self.what).name} {names.format_value(self.value)}"
        return (*self._does, f": {value} {names.format_interval(self.outcome.interval)}".rstrip())

    @property
    def _does(self) -> tuple[str | Segment, ...]:
        """Words on how the group differs, without the statistic's value."""
        if self.vague:
            than = "each other" if self.other is not None else "the others"
            return (f"answer differently from {than}, in which way cannot be told",)
        if self.other is None:
            use = self.row.label_use
            return manner(use) if self.what == LABEL_USE and use is not None else (held(self),)
        if self.what == LABEL_USE:
            return ("differ from each other: ", *self._of_labels)
        if self.what not in _BETWEEN:
            return ("differ from each other: ", self.spoken, " raters ", held(self))
        more, less = _BETWEEN[self.what]
        differ = "differ from each other: they " if self.apart else ""
        return (f"{differ}{less if self.outcome.direction == 'down' else more} {_THAN_RANDOM}",)

    @property
    def _of_labels(self) -> tuple[str | Segment, ...]:
        """Words to follow both names: the label that the first half says more or less often."""
        use = self.row.label_use
        said = () if use is None or self.other is None else manner(use, self.other.spoken)
        return (self.spoken, " raters ", *said) if said else ()

    @property
    def _value(self) -> str:
        use = self.row.label_use if self.what == LABEL_USE else None
        told = None if use is None else label_for_sentence(use)
        if told is not None:
            return f"“{one_line(told[0])}” {format_points(told[1].value)} points"
        size = f"{names.format_value(self.value)} {names.format_interval(self.outcome.interval)}"
        return f"{names.arrow(self.outcome)} {words_of(self.what).name} {size}".strip()

    @property
    def _p_and_q(self) -> str:
        if self.verdict is not None:
            return names.all_tests_words(self.verdict)
        return names.p_and_q_words(self.outcome)


def lead(found: Sequence[Doubt]) -> str:
    """Words before a sentence that doubts may undo; empty without doubts."""
    if not found:
        return ""
    first, *others = dict.fromkeys(one.lead for one in found)
    return f"{'; '.join([first, *(text[:1].lower() + text[1:] for text in others)])}: "


def words_of(what: str) -> names.StatisticWords:
    """The words of a statistic, or of spread."""
    return SPREAD_WORDS if what == SPREAD else names.WORDS[what]


def held(finding: Finding) -> str:
    """Words on how a group differs by a statistic, without its value."""
    words = words_of(finding.what)
    return f"{words.less if finding.outcome.direction == 'down' else words.more} {_THAN_RANDOM}"
