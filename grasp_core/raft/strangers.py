"""Answers about models and leaderboards as people without an account may see them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grasp_core.raft.raters.result import ModelsResult
from grasp_core.report.cautions import is_caution
from grasp_core.report.strangers import spec_for_strangers, summary_for_strangers


def models_for_strangers(result: ModelsResult) -> ModelsResult:
    """The same numbers without what could name a person or a file.

    Notes
    -----
    As for runs (:func:`grasp_core.report.strangers.for_strangers`); of the models only name and figures stay.
    """
    smallest = result.spec.analysis.min_raters
    return replace(
        result,
        data=summary_for_strangers(result.data),
        spec=spec_for_strangers(result.spec),
        models=tuple(replace(model, source="", sha256="") for model in result.models),
        groups=tuple(row for row in result.groups if row.n_raters >= smallest),
        warnings=tuple(warning for warning in result.warnings if is_caution(warning)),
    )


def document_for_strangers(kind: str, content: Any) -> Any:
    """A stored document's content as strangers may have it.

    Raises
    ------
    DataError
        If an answer about models cannot be read.
    """
    if kind == "leaderboard":  # names of systems, their figures and the publications
        return content
    return models_for_strangers(ModelsResult.from_dict(content)).to_dict()
