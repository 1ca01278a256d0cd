"""A result as people without an account may see it."""

from dataclasses import replace
from typing import TypeVar

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.analysis.small_groups import without_names, without_small_groups
from grasp_core.model.data_spec import NAMED, SCREENS, Filters
from grasp_core.model.groups import axis_label, group_label, named_group
from grasp_core.model.outcome import LeftOut, added_up
from grasp_core.model.remarks.cautions import (
    OF_TWO_AXES,
    Caution,
    GuardCaution,
    LeftOutReason,
    ScreenCaution,
    counts_by_group,
    is_public,
)
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import DataSummary, GivenResult, Result, RunResult, SliceResult
from grasp_core.model.spec import ModelSource, RunSpec

Rows = TypeVar("Rows", GivenResult, SliceResult)


def public_view(result: Result, *, small_groups: bool = False) -> Result:
    """Return the same numbers without anything that could name a person or a file.

    `small_groups`: True keeps groups of few raters; the person who shares the result decides.

    The view leaves out files, values by which raters were excluded or recoded, lists of ids, ignored columns
    (in a matrix their names may be raters'), warnings about the data (they may quote it), slices of a single
    item, and rows of single raters. In results brought from elsewhere it leaves out groups below the run's
    own smallest size. Models keep only their names and figures.
    """
    if not small_groups:
        result = without_small_groups(result)
    shown = replace(
        result,
        data=public_summary(result.data),
        spec=public_spec(result.spec),
        warnings=tuple(one for one in result.warnings if is_public(one) or _of_shown_groups(one, result)),
    )
    least = result.spec.analysis.min_raters
    if isinstance(shown, ModelsResult):
        return replace(
            shown,
            models=tuple(replace(model, source="", sha256="") for model in shown.models),
            groups=tuple(row for row in shown.groups if row.n_raters >= least),
        )
    if isinstance(shown, RunResult):
        groups = without_names(row for row in shown.groups if row.n_raters >= least)
        named = {row.group for row in groups} | {None}
        everybody = shown.everybody
        return replace(
            shown,
            everybody=None if everybody is None else replace(everybody, raters=()),
            groups=groups,
            assignment=tuple(check for check in shown.assignment if check.groups <= named),
            dsi=tuple(row for row in shown.dsi if row.group in named),
            slices=tuple(
                # The slice's value could identify a single item.
                replace(of, values=tuple(_of_large_groups(one, least) for one in of.values if one.items > 1))
                for of in shown.slices
            ),
            given=tuple(_of_large_groups(one, least) for one in shown.given),
            pairs=tuple(row for row in shown.pairs if min(row.n_raters_a, row.n_raters_b) >= least),
        )
    raise TypeError(type(result).__name__)  # a result whose details nobody has checked


def _of_shown_groups(warning: Remark, result: Result) -> bool:
    """Return whether a guard's or a screen's warning names only axes and groups that are shown anyway."""
    if warning.code is ScreenCaution.SCREENED_IN_GROUPS and isinstance(result, RunResult):
        return _screened_in_shown(warning, result)
    if not isinstance(warning.code, GuardCaution) or not isinstance(result, RunResult | ModelsResult):
        return False
    least = result.spec.analysis.min_raters
    shown = {
        (axis_label(row.group.axes), group_label(row.group)) for row in result.groups if row.n_raters >= least
    }
    numbers = dict(warning.numbers)
    if warning.code in OF_TWO_AXES:
        return {numbers["first"], numbers["second"]} <= {
            axis_label((one,)) for one in result.spec.analysis.tested
        }
    others = (value for name, value in numbers.items() if name not in ("axis", "group"))
    plain = all(type(value) in (int, float) for value in others)
    return plain and (numbers["axis"], numbers["group"]) in shown


def _screened_in_shown(warning: Remark, result: RunResult) -> bool:
    """Return whether no group is hidden: a hidden count would follow from the counts of other groups."""
    if any(one.code in (Caution.FEW_RATERS_HIDDEN, Caution.SMALL_GROUPS) for one in result.warnings):
        return False
    numbers, counts = dict(warning.numbers), counts_by_group(warning)
    least = result.spec.analysis.min_raters
    shown = {named_group(row.group) for row in result.groups if row.n_raters >= least}
    every = isinstance(numbers["groups"], tuple) and len(counts) == len(numbers["groups"])
    return every and numbers["screen"] in {*SCREENS.values(), *NAMED.values()} and counts.keys() <= shown


def _of_large_groups(found: Rows, least: int) -> Rows:
    """Keep the rows of groups that are large enough, and the DSI of these groups."""
    groups = tuple(row for row in found.groups if row.n_raters >= least)
    named = {row.group for row in groups} | {None}
    return replace(found, groups=groups, dsi=tuple(row for row in found.dsi if row.group in named))


def public_spec(spec: RunSpec) -> RunSpec:
    """The spec without values and columns that could name somebody."""
    data = replace(
        spec.data,
        ignore=(),
        exclude=(),
        recode=(),
        filters=Filters(),
        member=None,
        raters_member=None,
        items_member=None,
    )
    return replace(spec, data=data, models=tuple(ModelSource(model.name, "") for model in spec.models))


def public_summary(data: DataSummary) -> DataSummary:
    """The data's description without files, and without reasons for leaving out, which may quote the data."""
    account = data.account
    if account is not None:
        total = sum(one.count for one in account.left_out)
        account = replace(account, left_out=added_up([LeftOut(LeftOutReason.ANY_REASON(), total)]), unused=())
    return replace(data, files=(), account=account)
