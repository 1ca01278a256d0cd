"""A result with every text printable."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.model.outcome import Histogram, LabelUse, LeftOut
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import BatchAgreement, LabelAgreement, Timing
from grasp_core.model.spec import RunSpec
from grasp_core.model.text import printable, printable_name, printable_names

T = TypeVar("T")
_AS_THEY_ARE = (RunSpec, Timing, Histogram)
_IN_FULL = ("sha256", "source", "code_version")
"""Fields whose texts are not cut as names are. Texts of labels, batches and remarks are not cut either."""


def printable_result(result: T) -> T:
    """The same result or map with texts printable and names short; the spec keeps the data's names."""
    shown: T = _shown(result, printable_name)
    return shown


def printable_models(result: ModelsResult) -> ModelsResult:
    """The same result with texts printable and names short, those of models too."""
    names = _names(tuple(one.name for one in result.models))
    models = tuple(replace(one, name=names[one.name]) for one in result.models)
    groups = tuple(
        replace(row, models={names[name]: side for name, side in row.models.items()}) for row in result.groups
    )
    return printable_result(replace(result, models=models, groups=groups))


def _shown(value: Any, write: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return write(value)
    if isinstance(value, tuple):
        return tuple(_shown(one, write) for one in value)
    if isinstance(value, Mapping):
        return {key: _shown(one, write) for key, one in value.items()}
    if isinstance(value, LeftOut):
        return replace(value, reason=_remark(value.reason, printable_name))
    if isinstance(value, Remark):
        return _remark(value, printable)
    if not is_dataclass(value) or isinstance(value, (type, *_AS_THEY_ARE)):
        return value
    if isinstance(value, LabelUse):
        value = _with_names(value)
    in_full = isinstance(value, LabelAgreement | BatchAgreement)
    return replace(
        value,
        **{
            one.name: _shown(
                getattr(value, one.name), printable if in_full or one.name in _IN_FULL else printable_name
            )
            for one in fields(value)
        },
    )


def _with_names(use: LabelUse) -> LabelUse:
    names = _names(tuple(use.labels))
    labels = {names[label]: shift for label, shift in use.labels.items()}
    return replace(use, labels=labels, most=None if use.most is None else names.get(use.most))


def _names(keys: tuple[str, ...]) -> dict[str, str]:
    """Names that are keys, printable; numbered if two would look alike."""
    shown = printable_names(keys)
    if len(set(shown)) < len(shown):
        shown = tuple(f"{position}: {name}" for position, name in enumerate(shown, start=1))
    return dict(zip(keys, shown, strict=True))


def _remark(remark: Remark, write: Callable[[str], str]) -> Remark:
    def within(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(within, value))
        if isinstance(value, Remark):
            return _remark(value, write)
        return write(value) if isinstance(value, str) else value

    return replace(remark, numbers=tuple((name, within(value)) for name, value in remark.numbers))
