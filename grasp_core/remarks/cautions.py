"""Cautions of a run, apart from what is odd in its data."""

from __future__ import annotations

from enum import unique

from grasp_core.remarks.remark import Code, Remark


def leaving_out(screen: str) -> str:
    """Where raters whom a screen names are left out, in words that are right wherever they are read."""
    return f"on Results or Data, or by --leave-out {screen} (screens, in Python and in specs)"


@unique
class Caution(Code):
    """Cautions that take whole numbers only, never a text from the data, so that anybody may see them."""

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
        "use at least {least}, or test fewer axes"
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
        "fewer than half of the shared ones, have labels of two raters of both sides. More raters an item "
        "bring the distance item by item"
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
    """Cautions that name a model, whose name may be anything."""

    MODEL_UNLABELLED = (
        "{model} has no label for {items} of the items; they are left out for it until its file has them"
    )
    MODEL_OF_OTHER_ITEMS = (
        "{labels} labels of {model} are of items that the data do not hold; if they should, write the items' "
        "ids alike in both files"
    )


@unique
class ScreenCaution(Code):
    """Cautions on raters whom screens name, which name groups, whose names come from the data."""

    SCREENED_IN_GROUPS = "{screen}, by group: {groups:6}"


@unique
class GroupCount(Code):
    """Counts of raters by group, as cautions on raters whom screens name list them."""

    RATERS_OF_GROUP = "{group}: {raters} of {of}"


def counts_by_group(remark: Remark) -> dict[str, int]:
    """Raters by group of `SCREENED_IN_GROUPS`; none of one that was written when it had texts alone."""
    groups = dict(remark.numbers)["groups"]
    counts = [one for one in groups if isinstance(one, Remark)] if isinstance(groups, tuple) else []
    found = [dict(one.numbers) for one in counts if one.code is GroupCount.RATERS_OF_GROUP]
    return {str(one["group"]): one["raters"] for one in found if isinstance(one["raters"], int)}


def is_public(remark: Remark) -> bool:
    """Whether anybody may see it: a caution, with whole numbers as it should have."""
    return isinstance(remark.code, Caution) and all(type(value) is int for _, value in remark.numbers)
