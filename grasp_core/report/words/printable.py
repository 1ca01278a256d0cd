"""A result with every text printable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from grasp_core.model.groups import Group
from grasp_core.model.outcome import Account, LabelUse, Outcome, PairResult
from grasp_core.model.remarks.remark import Remark, Value
from grasp_core.model.result import (
    Association,
    DataSummary,
    DsiResult,
    Everybody,
    GivenResult,
    GroupResult,
    RunResult,
    SlicesResult,
)
from grasp_core.model.text import printable, printable_name, printable_names


def printable_result(result: RunResult) -> RunResult:
    """The same result with every text :func:`printable`, and names no longer than 200 characters.

    The spec stays as it is: its texts are the names of the data's columns.
    """
    return replace(
        result,
        data=_data(result.data),
        groups=tuple(_group_result(row) for row in result.groups),
        dsi=tuple(_dsi(row) for row in result.dsi),
        pairs=tuple(_pair(row) for row in result.pairs),
        slices=tuple(_slices(found) for found in result.slices),
        given=tuple(_given(found) for found in result.given),
        everybody=None if result.everybody is None else _everybody(result.everybody),
        associations=tuple(_association(one) for one in result.associations),
        warnings=tuple(_remark(warning) for warning in result.warnings),
        code_version=printable(result.code_version),
    )


def _everybody(found: Everybody) -> Everybody:
    return replace(
        found,
        labels=tuple(
            replace(one, label=printable(one.label), beside=one.beside and printable(one.beside))
            for one in found.labels
        ),
        batches=tuple(
            replace(one, column=printable(one.column), value=printable(one.value)) for one in found.batches
        ),
    )


def _data(data: DataSummary) -> DataSummary:
    files = tuple(
        replace(
            file, name=printable_name(file.name), sha256=printable(file.sha256), source=printable(file.source)
        )
        for file in data.files
    )
    return replace(
        data,
        categories=printable_names(data.categories),
        sha256=printable(data.sha256),
        files=files,
        account=None if data.account is None else _account(data.account),
    )


def _account(account: Account) -> Account:
    left_out = tuple(replace(one, reason=_remark(one.reason, printable_name)) for one in account.left_out)
    return replace(account, left_out=left_out, unused=printable_names(account.unused))


def _group_result(row: GroupResult) -> GroupResult:
    statistics = {name: _outcome(outcome) for name, outcome in row.statistics.items()}
    use = None if row.label_use is None else _label_use(row.label_use)
    verdict = row.verdict and replace(
        row.verdict,
        by=row.verdict.by and printable_group(row.verdict.by),
        other=row.verdict.other and printable_group(row.verdict.other),
    )
    return replace(
        row, group=printable_group(row.group), statistics=statistics, label_use=use, verdict=verdict
    )


def _pair(row: PairResult) -> PairResult:
    statistics = {name: _outcome(outcome) for name, outcome in row.statistics.items()}
    use = None if row.label_use is None else _label_use(row.label_use)
    return replace(
        row, a=printable_group(row.a), b=printable_group(row.b), statistics=statistics, label_use=use
    )


def _label_use(use: LabelUse) -> LabelUse:
    names = dict(zip(use.labels, _names_apart(tuple(use.labels)), strict=True))
    return replace(
        use,
        labels={names[label]: shift for label, shift in use.labels.items()},
        most=None if use.most is None else names.get(use.most),
        reason=None if use.reason is None else _remark(use.reason),
    )


def _names_apart(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names as shown, numbered where two would look alike: they are keys."""
    shown = printable_names(names)
    if len(set(shown)) == len(shown):
        return shown
    return tuple(f"{position}: {name}" for position, name in enumerate(shown, start=1))


def _dsi(row: DsiResult) -> DsiResult:
    group = None if row.group is None else printable_group(row.group)
    return replace(row, axes=printable_names(row.axes), group=group, outcome=_outcome(row.outcome))


def _slices(found: SlicesResult) -> SlicesResult:
    values = tuple(
        replace(
            one,
            value=printable_name(one.value),
            groups=tuple(_group_result(row) for row in one.groups),
            dsi=tuple(_dsi(row) for row in one.dsi),
        )
        for one in found.values
    )
    return replace(found, column=printable_name(found.column), values=values)


def _given(found: GivenResult) -> GivenResult:
    return replace(
        found,
        column=printable_name(found.column),
        groups=tuple(_group_result(row) for row in found.groups),
        dsi=tuple(_dsi(row) for row in found.dsi),
    )


def _association(one: Association) -> Association:
    return replace(one, first=printable_name(one.first), second=printable_name(one.second))


def printable_group(group: Group) -> Group:
    """A group whose axes and values are names as shown."""
    return Group(printable_names(group.axes), printable_names(group.values))


def _remark(remark: Remark, shown: Callable[[str], str] = printable) -> Remark:
    numbers = ((name, _number(value, shown)) for name, value in remark.numbers)
    return replace(remark, numbers=tuple(numbers))


def _number(value: Value, shown: Callable[[str], str]) -> Value:
    if isinstance(value, tuple):
        return tuple(_single(one, shown) for one in value)
    return value if isinstance(value, float) else _single(value, shown)


def _single(value: str | int | Remark, shown: Callable[[str], str]) -> str | int | Remark:
    if isinstance(value, Remark):
        return _remark(value, shown)
    return shown(value) if isinstance(value, str) else value


def _outcome(outcome: Outcome) -> Outcome:
    return outcome if outcome.reason is None else replace(outcome, reason=_remark(outcome.reason))
