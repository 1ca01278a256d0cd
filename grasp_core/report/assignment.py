"""What was found of assignment, workload and axes that go together, as warnings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from grasp_core.assignment import AssignmentCheck
from grasp_core.guards.matched import Unmatched
from grasp_core.guards.teams import Team
from grasp_core.remarks.guards import GuardCaution
from grasp_core.remarks.remark import Remark
from grasp_core.report.words.names import axis_label, format_p, group_label
from grasp_core.result import Association
from grasp_core.wording import quoted


def said_of_assignment(checks: Iterable[AssignmentCheck], *, of_models: bool = False) -> list[Remark]:
    """A warning for each axis whose groups were given other items, and for each with other workloads.

    Parameters
    ----------
    checks : iterable of AssignmentCheck
    of_models : bool
        Whether it is models that are compared with the groups.
    """
    own_items = GuardCaution.OWN_ITEMS_WITH_MODELS if of_models else GuardCaution.OWN_ITEMS
    own_workload = GuardCaution.OWN_WORKLOAD_WITH_MODELS if of_models else GuardCaution.OWN_WORKLOAD
    found = []
    for check in checks:
        axis = axis_label(check.axes)
        if check.items is not None and check.own_items:
            met = round(100 * check.items.size)
            found.append(own_items(axis=axis, group=group_label(check.items.group), met=met))
        if check.workload is not None and check.own_workload:
            group = group_label(check.workload.group)
            found.append(own_workload(axis=axis, group=group, times=check.workload.size))
    return found


def given_other_items(warnings: Iterable[Remark]) -> bool:
    """Whether it is warned that groups were given other items, as batches, teams or vendors may be."""
    told = {GuardCaution.OWN_ITEMS, GuardCaution.OWN_ITEMS_WITH_MODELS}
    return any(one.code in told for one in warnings)


def could_hold_batches(columns: Mapping[str, int], raters: int) -> tuple[str, ...]:
    """Columns that describe raters, by how many values each has, that could hold batches of them."""
    return tuple(name for name, values in columns.items() if 2 <= values <= raters // 2)


SHUFFLES: Mapping[str, str] = {
    "cluster": "moves the profiles of whole teams",
    "within": "shuffles within the values of it",
}
"""What mends that raters work in teams, see :class:`~grasp_core.guards.teams.Team`."""


def team_sentence(team: Team) -> str:
    """A column that looks like teams, without what mends it."""
    return (
        f"raters with one value of {quoted(team.column)} answer more alike than others with their value of "
        f"{quoted(team.axis)}, as teams do; what is found by {quoted(team.axis)} may be theirs"
    )


def said_of_associations(found: Iterable[Association]) -> list[Remark]:
    """A warning for each two axes that go together."""
    return [
        GuardCaution.AXES_TOGETHER(
            first=axis_label((one.first,)), second=axis_label((one.second,)), v=one.v, p=format_p(one.p)
        )
        for one in found
    ]


def said_of_matched(found: Iterable[Unmatched]) -> list[Remark]:
    """A warning for each group whose GAI compares different items."""
    return [
        GuardCaution.GAI_OF_OTHER_ITEMS(
            axis=axis_label(one.group.axes), group=group_label(one.group), gai=one.gai, matched=one.matched
        )
        for one in found
    ]
