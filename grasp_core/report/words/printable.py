"""A result with every text printable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from grasp_core.model.groups import Group
from grasp_core.model.outcome import LabelUse, Outcome
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import DsiResult, GivenResult, GroupResult, RunResult, SliceResult
from grasp_core.model.text import printable, printable_name, printable_names

Rows = TypeVar("Rows", GivenResult, SliceResult)


def printable_result(result: RunResult) -> RunResult:
    """The same result with every text :func:`printable`, and names no longer than 200 characters.

    The spec stays as it is: its texts are the names of the data's columns.
    """
    data, everybody = result.data, result.everybody
    files = tuple(
        replace(
            file, name=printable_name(file.name), sha256=printable(file.sha256), source=printable(file.source)
        )
        for file in data.files
    )
    account = data.account and replace(
        data.account,
        left_out=tuple(
            replace(one, reason=_remark(one.reason, printable_name)) for one in data.account.left_out
        ),
        unused=printable_names(data.account.unused),
    )
    everybody = everybody and replace(
        everybody,
        labels=tuple(
            replace(one, label=printable(one.label), beside=one.beside and printable(one.beside))
            for one in everybody.labels
        ),
        batches=tuple(
            replace(one, column=printable(one.column), value=printable(one.value))
            for one in everybody.batches
        ),
    )
    return replace(
        result,
        data=replace(
            data,
            categories=printable_names(data.categories),
            sha256=printable(data.sha256),
            files=files,
            account=account,
        ),
        groups=tuple(map(_group_result, result.groups)),
        dsi=tuple(map(_dsi, result.dsi)),
        pairs=tuple(
            replace(
                row,
                a=printable_group(row.a),
                b=printable_group(row.b),
                statistics={name: _outcome(outcome) for name, outcome in row.statistics.items()},
                label_use=row.label_use and _label_use(row.label_use),
            )
            for row in result.pairs
        ),
        slices=tuple(
            replace(
                found,
                column=printable_name(found.column),
                values=tuple(replace(_rows(one), value=printable_name(one.value)) for one in found.values),
            )
            for found in result.slices
        ),
        given=tuple(replace(_rows(found), column=printable_name(found.column)) for found in result.given),
        everybody=everybody,
        associations=tuple(
            replace(one, first=printable_name(one.first), second=printable_name(one.second))
            for one in result.associations
        ),
        warnings=tuple(map(_remark, result.warnings)),
        code_version=printable(result.code_version),
    )


def _rows(found: Rows) -> Rows:
    return replace(found, groups=tuple(map(_group_result, found.groups)), dsi=tuple(map(_dsi, found.dsi)))


def _group_result(row: GroupResult) -> GroupResult:
    verdict = row.verdict and replace(
        row.verdict,
        by=row.verdict.by and printable_group(row.verdict.by),
        other=row.verdict.other and printable_group(row.verdict.other),
    )
    return replace(
        row,
        group=printable_group(row.group),
        statistics={name: _outcome(outcome) for name, outcome in row.statistics.items()},
        label_use=row.label_use and _label_use(row.label_use),
        verdict=verdict,
    )


def _label_use(use: LabelUse) -> LabelUse:
    shown = printable_names(tuple(use.labels))
    if len(set(shown)) < len(shown):  # numbered where two would look alike: they are keys
        shown = tuple(f"{position}: {name}" for position, name in enumerate(shown, start=1))
    names = dict(zip(use.labels, shown, strict=True))
    return replace(
        use,
        labels={names[label]: shift for label, shift in use.labels.items()},
        most=None if use.most is None else names.get(use.most),
        reason=None if use.reason is None else _remark(use.reason),
    )


def _dsi(row: DsiResult) -> DsiResult:
    group = None if row.group is None else printable_group(row.group)
    return replace(row, axes=printable_names(row.axes), group=group, outcome=_outcome(row.outcome))


def printable_group(group: Group) -> Group:
    """A group whose axes and values are names as shown."""
    return Group(printable_names(group.axes), printable_names(group.values))


def _remark(remark: Remark, shown: Callable[[str], str] = printable) -> Remark:
    numbers = (
        (
            name,
            tuple(_single(one, shown) for one in value)
            if isinstance(value, tuple)
            else _single(value, shown),
        )
        for name, value in remark.numbers
    )
    return replace(remark, numbers=tuple(numbers))


def _single(value: Any, shown: Callable[[str], str]) -> Any:
    if isinstance(value, Remark):
        return _remark(value, shown)
    return shown(value) if isinstance(value, str) else value


def _outcome(outcome: Outcome) -> Outcome:
    return outcome if outcome.reason is None else replace(outcome, reason=_remark(outcome.reason))
