"""Warnings that shuffling profiles may not hold; they name axes and groups."""

from __future__ import annotations

from enum import unique

from grasp_core.remarks.remark import Code


@unique
class GuardCaution(Code):
    """What stands beside every result of an axis that may owe it to items, workloads or another axis."""

    OWN_ITEMS = (
        "{axis}: groups were given different items. Annotations of {group} meet one of the others on their "
        "item {met} % as often as they would if {axis} had no part in who rates what, so groups may differ "
        "for their items alone. Only distance and label use, which compare labels of the same items, have "
        "marks, and label use is tested by leaving raters out; if raters worked in batches, shuffle within "
        "these: on Analysis, or by --within and the column that holds them"
    )
    OWN_WORKLOAD = (
        "{axis}: groups rated different numbers of items. Raters of {group} gave {times:.2f} times as many "
        "annotations as the others (geometric means). Negentropy and plurality size, which depend on that, "
        "have no marks, and label use is tested by leaving raters out; shuffle within raters of like "
        "workload: on Analysis, or by --within workload"
    )
    OWN_ITEMS_WITH_MODELS = (
        "{axis}: groups were given different items. Annotations of {group} meet one of the others on their "
        "item {met} % as often as they would if {axis} had no part in who rates what, so a model may seem "
        "closer to a group for its items alone; if raters worked in batches, shuffle within these: on "
        "Models, or by --within and the column that holds them"
    )
    OWN_WORKLOAD_WITH_MODELS = (
        "{axis}: groups rated different numbers of items. Raters of {group} gave {times:.2f} times as many "
        "annotations as the others (geometric means), and the more raters an item has, the closer a model "
        "may seem to them; shuffle within raters of like workload: on Models, or by --within workload"
    )
    AXES_TOGETHER = (
        "{first} and {second} overlap among the raters (Cramér's V {v:.2f}, {p}), so it cannot be told yet "
        "which of them matters. Test each given the other, under Compare groups or by --given, or shuffle "
        "within one of them"
    )
    GAI_OF_OTHER_ITEMS = (
        "{axis}: GAI compares different items. That of {group} is {gai:.2f}, and {matched:.2f} over the "
        "items that two raters of the group and two others rated"
    )


@unique
class ShuffleCaution(Code):
    """What stands beside a run whose profiles move within strata or by clusters; it names columns."""

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
