"""All codes by their names in files, and the conversion from a file's JSON back to a remark.

This module is not part of `remarks`, to avoid an import in a circle: errors are made of remarks, and
:mod:`grasp_core.model.json_values`, which this module needs, raises errors.
"""

from typing import Any

from grasp_core.model.json_values import CONVERTER, WrongKindError, from_json
from grasp_core.model.remarks.benchmark import BaselineCaution, ModelProblem, SubmissionProblem
from grasp_core.model.remarks.cautions import (
    Caution,
    GroupCount,
    GuardCaution,
    LeftOutReason,
    ModelCaution,
    NoMap,
    PlanCaution,
    ScreenCaution,
    ShuffleCaution,
    Skipped,
)
from grasp_core.model.remarks.problems import DataProblem, FileProblem
from grasp_core.model.remarks.reasons import ItemProblem, NoFit, NoInterval, NoValue
from grasp_core.model.remarks.remark import Code, Remark, Value, Words, said

KINDS: tuple[type[Code], ...] = (
    *(NoValue, NoInterval, NoFit, NoMap, Caution, GuardCaution, ShuffleCaution, ModelCaution, ScreenCaution),
    *(GroupCount, BaselineCaution, PlanCaution, LeftOutReason, Skipped),
    *(FileProblem, DataProblem, ItemProblem, SubmissionProblem, ModelProblem, Words),
)
CODES = {code.key: code for kind in KINDS for code in kind}


def remark_from_dict(plain: Any) -> Remark:
    """Read :meth:`Remark.to_dict`'s form; of texts and unknown codes only the sentence is kept."""
    if isinstance(plain, str):
        return said(plain)
    code = CODES.get(from_json(plain["code"], str))
    if code is None:
        return said(from_json(plain["text"], str))
    remark = code(**{name: _value(value) for name, value in plain["numbers"].items()})
    str(remark)  # raises if a number is of another kind than the sentence takes
    return remark


def _value(plain: Any) -> Value:
    if isinstance(plain, dict):
        return remark_from_dict(plain)
    if isinstance(plain, list):
        if plain and all(isinstance(one, dict) for one in plain):
            return tuple(map(remark_from_dict, plain))
        texts = from_json(plain[:-1], tuple[str, ...])
        return (*texts, *(one if type(one) is int else from_json(one, str) for one in plain[-1:]))
    if isinstance(plain, bool) or not isinstance(plain, int | float | str):
        raise WrongKindError(plain, "a number or a text")
    return plain


CONVERTER.register_unstructure_hook(Remark, Remark.to_dict)
CONVERTER.register_structure_hook(Remark, lambda plain, _: remark_from_dict(plain))
