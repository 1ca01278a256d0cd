"""Cautions shown beside results, maps and plans, and reasons for leaving annotations out."""

from __future__ import annotations

from enum import unique

from grasp_core.model.remarks.remark import Code, Remark


@unique
class LeftOutReason(Code):
    """Reasons for leaving annotations out when data are read, worded to follow their number."""

    NO_LABEL = "no label"
    REPEATED_ALIKE = "repeated with the same label"
    COLUMN_PUT_ASIDE = "column {column:q} put aside"
    RATERS_WITH = "raters with {values:or}"
    WITH_VALUE = "{column:q}{value:? = {value:q}}{value:! empty}"
    LISTED_RATERS = "raters on the exclusion list"
    LISTED_ITEMS = "items on the exclusion list"
    TIME_BELOW = "{column:q} below {low:g}, or no number"
    TIME_ABOVE = "{column:q} above {high:g}, or no number"
    TIME_OUTSIDE = "{column:q} below {low:g} or above {high:g}, or no number"
    TOO_FEW_RIGHT = "raters with less than {share:.0%} of the labels in {column:q} right"
    RATERS_WITH_FEWER = "raters with fewer than {least} annotations"
    ITEMS_WITH_FEWER = "items with fewer than {least} annotations"
    AT_CHANCE = "raters whose labels agree with those of others no more than chance does"
    ONE_LABEL_ALWAYS = "raters who gave one label always"
    TOO_CLOSE = "one rater of each two who agree too closely"
    ANSWERED_AGAIN = "{which} answers of a rater to the same item, by the order of rows"
    ANSWERED_AGAIN_BY_TIME = "{which} answers of a rater to the same item, by the times in {column:q}"
    IN_QUESTION = "{reason}, in {question:q}"
    ANY_REASON = "any reason"


@unique
class Skipped(Code):
    """Records that readers of tools' exports skip: in the plural, and in the singular."""

    one: str

    def __new__(cls, many: str, one: str) -> Skipped:
        """Make a member from its two forms."""
        member = object.__new__(cls)
        member._value_, member.one = many, one
        return member

    UNKNOWN_ANNOTATOR = "annotations of an unknown annotator", "annotation of an unknown annotator"
    CANCELLED = "cancelled annotations", "cancelled annotation"
    PREDICTIONS = "predictions", "prediction"
    DRAFTS = "drafts", "draft"
    REGIONS = "answers about regions or relations", "answer about a region or relation"
    UNANNOTATED_TASKS = "tasks without annotations", "task without annotations"
    UNANSWERED_TASKS = "tasks that were left without an answer", "task that was left without an answer"
    UNSUBMITTED = "responses that were not submitted", "response that was not submitted"
    WITHOUT_STATUS = "responses without a status", "response without a status"
    ITEMS_WITHOUT_INPUT = "items without input", "item without input"


@unique
class NoMap(Code):
    """Reasons why raters are not placed on a map, or an axis is not compared with it."""

    FEW_PLACED = (
        "only {placed:d} of {raters:rater} share {least:d} answers or more with at least half of the others; "
        "a map takes at least half of the raters, and {fewest:d}"
    )
    NO_DISAGREEMENT = "raters never differ on what they share"
    FEW_GROUPS_ON_MAP = "fewer than two of its groups have {least:rater} or more on the map"


@unique
class PlanCaution(Code):
    """Cautions on a plan: parts that were left out or cannot be computed."""

    PILOTS_LEFT_OUT = (
        "{left_out} of {pilots:pilot} that were drawn anew for the range cannot have this difference and "
        "{left_out:is/are} left out: the range may be too narrow; a smaller size or a larger pilot mends it"
    )
    TOO_FEW_PILOTS = (
        "there is no range: {left_out} of {pilots:pilot} that were drawn anew for it cannot have this "
        "difference; look for a smaller one, or take a larger pilot"
    )


@unique
class GuardCaution(Code):
    """Cautions beside every result of an axis that may be due to items, workloads or another axis."""

    OWN_ITEMS = (
        "{axis}: groups were given different items. {group} and the others meet on an item {met} % as often "
        "as they would if {axis} had no part in who rates what, so groups may differ because of their items "
        "alone. Only label use is tested, by leaving raters out: it compares labels of the same items. If "
        "raters worked in batches, shuffle within these: on Analysis, under Shuffles, or by --within and the "
        "column that holds them"
    )
    OWN_WORKLOAD = (
        "{axis}: groups rated different numbers of items. Raters of {group} gave {times:.2f} times as many "
        "annotations as the others (geometric means), which alone makes groups differ. Only label use is "
        "tested, by leaving raters out. Shuffle within raters of like workload: on Analysis, or by --within "
        "workload"
    )
    OWN_ITEMS_WITH_MODELS = (
        "{axis}: groups were given different items. {group} and the others meet on an item {met} % as often "
        "as they would if {axis} had no part in who rates what, so a model may seem closer to a group "
        "because of its items alone, and nothing is tested. If raters worked in batches, shuffle within "
        "these: on Models, or by --within and the column that holds them"
    )
    OWN_WORKLOAD_WITH_MODELS = (
        "{axis}: groups rated different numbers of items. Raters of {group} gave {times:.2f} times as many "
        "annotations as the others (geometric means), and the more raters an item has, the closer a model "
        "may seem to them, so nothing is tested. Shuffle within raters of like workload: on Models, or by "
        "--within workload"
    )
    AXES_TOGETHER = (
        "{first} and {second} overlap among the raters: it cannot be told yet which matters. Cramér's V is "
        "{v:.2f}, {p}. Test each given the other, under Compare groups or by --given, or shuffle within one "
        "of them"
    )
    ONE_SPLIT = (
        "{first} and {second} divide the raters alike: these data cannot tell which matters. Ask raters for "
        "whom the two differ"
    )
    GAI_OF_OTHER_ITEMS = (
        "{axis}: GAI compares different items. That of {group} is {gai:.2f}, and {matched:.2f} over the "
        "items that two raters of the group and two others rated"
    )


OF_TWO_AXES = (GuardCaution.AXES_TOGETHER, GuardCaution.ONE_SPLIT)
"""Cautions that name two axes, `first` and `second`, in place of one."""


@unique
class ShuffleCaution(Code):
    """Cautions on a run that shuffles profiles within strata or by clusters; they name columns."""

    MIXED_CLUSTERS = (
        "raters of one {cluster:q} differ on {mixed:and}, so clusters change places with others of their "
        "size alone ({clusters:cluster} in all), on {whole:and} too, whose values could move by whole "
        "clusters of any size; test {whole:and} in a run without {mixed:and}"
    )
    UNKNOWN_STRATUM = (
        "{unknown:rater} of {raters} {unknown:is/are} unknown on {column:q}, within whose values profiles "
        "are shuffled: they are shuffled among themselves; fill the column in, or choose another"
    )
    UNKNOWN_CLUSTER = (
        "{unknown:rater} of {raters} {unknown:is/are} unknown on {column:q}, by which profiles are shuffled: "
        "each of them is a cluster alone; fill the column in, or choose another"
    )
    ONE_STRATUM = (
        "{column:q} does not tell raters apart: shuffling within its values is shuffling over all; choose "
        "another column"
    )


def leaving_out(screen: str) -> str:
    """Return where to leave out the raters of a screen, in words that fit pages, command and Python."""
    return f"on Results or Data, or by --leave-out {screen} (screens, in Python and in specs)"


@unique
class Caution(Code):
    """Cautions with whole numbers only and no text from the data, so that anybody may see them."""

    SMALL_GROUPS = (
        "not shown: {small} of {groups} groups, with fewer than {least} raters; their raters still count "
        "among the others"
    )
    FEW_RATERS_HIDDEN = (
        "groups with fewer than {least} raters are not shown here, nor are other groups and figures that "
        "would tell of them; all their raters still count among the others"
    )
    TOO_FEW_FOR_CORRECTION = (
        "with {permutations} permutations a lone effect among {tests} tests can never survive correction; "
        "use at least {least}, or make fewer tests"
    )
    ITEMS_WITHOUT_PAIRS = (
        "{paired} of {items} shared items have labels of two raters of the group and of two others, which "
        "the distance takes; the others are looked at by label use alone"
    )
    FEW_REGROUPINGS = (
        "{few} of {groups} groups can be regrouped in so few ways that no two-sided p-value of theirs is "
        "below 0.05; where one tail alone counts, as for distance and label use, p may be half as large. "
        "More raters leave more ways"
    )
    CLUSTERS_STAY = (
        "{raters} of {all} raters keep their profiles in every permutation: no other cluster that theirs may "
        "change places with is of its size"
    )
    TOO_FEW_FOR_P = "with fewer than 100 permutations there are no p-values"
    SOME_NOT_ESTIMABLE = (
        "in {lost} of {permutations} permutations some statistic was not estimable; those values are left "
        "out. Fewer are with groups of more raters"
    )
    NO_GROUP_IN_SLICES = (
        "{columns:column} that {columns:was/were} to be sliced by {columns:has/have} no slices: no group has "
        "{least} raters or more on the items of any value; recode them into fewer values, or slice by others"
    )
    PAPER_P = (
        "p-values follow the paper, which picks the tail from the data: at 0.05 about 10 % of groups without "
        "any effect are marked"
    )
    PAPER_CROSS_NEGENTROPY = (
        "cross-negentropy follows the paper: items to which the others did not give every label count as "
        "full agreement"
    )
    DISTANCE_OF_SHARES = (
        "the distance of {few} of {groups} groups is that of the shares of labels over all items, which "
        "misses what evens out over items, and takes no part in their verdict: fewer than {least} items, and "
        "fewer than half of the shared ones, have labels of two raters of both sides. With more raters an "
        "item, the distance is measured item by item"
    )
    TOO_MANY_PAIRS = (
        "an axis or intersection with {groups} groups is not compared pair by pair; up to {most} groups are: "
        "recode its values into fewer, or ask for groups of more raters alone"
    )
    RANDOM_RESPONDERS = (
        "{raters:rater} of {looked_at} {raters:agrees/agree} with the others no more than chance does, as if "
        "without reading; a few such raters in a group make it differ where nobody's opinion does. Leave "
        f"them out: {leaving_out('random')}"
    )
    CONSTANT_RATERS = (
        "{raters:rater} of {looked_at} with {least} or more annotations gave one label always, more than its "
        f"frequency explains. If they did not look, leave them out: {leaving_out('constant')}"
    )
    NEAR_DUPLICATES = (
        "{pairs:pair} of raters ({raters:rater}) {pairs:agrees/agree} far more than independent raters "
        "would: one person with two accounts, copied answers, or two people who see the task very much "
        f"alike. To leave out one of each two: {leaving_out('duplicates')}"
    )


@unique
class ModelCaution(Code):
    """Cautions that contain a model's name, which may be any text."""

    MODEL_UNLABELLED = (
        "{model} has no label for {items} of the items; they are left out for it until its file has them"
    )
    MODEL_OF_OTHER_ITEMS = (
        "{labels} labels of {model} are of items that the data do not hold; if they should, write the items' "
        "ids alike in both files"
    )


@unique
class ScreenCaution(Code):
    """Cautions on raters found by screens; they contain names of groups, which come from the data."""

    SCREENED_IN_GROUPS = "{screen}, by group: {groups:6}"


@unique
class GroupCount(Code):
    """Counts of raters by group, for the lists in cautions on raters found by screens."""

    RATERS_OF_GROUP = "{group}: {raters} of {of}"


def counts_by_group(remark: Remark) -> dict[str, int]:
    """Return raters by group of `SCREENED_IN_GROUPS`; empty for an earlier one that has only texts."""
    groups = dict(remark.numbers)["groups"]
    counts = [one for one in groups if isinstance(one, Remark)] if isinstance(groups, tuple) else []
    found = [dict(one.numbers) for one in counts if one.code is GroupCount.RATERS_OF_GROUP]
    return {str(one["group"]): one["raters"] for one in found if isinstance(one["raters"], int)}


def is_public(remark: Remark) -> bool:
    """Return whether anybody may see a remark: a :class:`Caution` that has only whole numbers."""
    return isinstance(remark.code, Caution) and all(type(value) is int for _, value in remark.numbers)
