"""MultiPICo: irony of replies in nine languages (Casola et al. 2024, CC BY 4.0).

The file of huggingface.co/datasets/Multilingual-Perspectivist-NLU/MultiPICo: a row per annotation with the
post, the reply, the language and its variety, and what Prolific tells of the annotator.
"""

from __future__ import annotations

import numpy as np

from grasp_core.model.annotations import number_of
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.recode_steps import Bins, MapValues, Recode
from grasp_core.model.wording import quoted
from grasp_core.reading.formats.datasets._column_matching import first, has, points, renamed, texts
from grasp_core.reading.table.table import Recipe, Table

_TOLD = ("post_id", "reply_id", "post", "reply", "annotator_id", "label", "language")
_CATEGORIES = ("Not ironic", "Ironic")
# What Prolific's exports hold where a participant withdrew, or an answer is too old.
_MISSING = ("", "DATA_EXPIRED", "CONSENT_REVOKED", "Prefer not to say", "nan")
_AGES = (25, 35, 45, 55)
_AGE_GROUPS = ("under 25", "25-34", "35-44", "45-54", "55 and over")
_AXES = (
    ("Sex", "Gender"),
    ("Age", "Generation"),
    ("Ethnicity simplified", "Ethnicity"),
    ("Nationality",),
    ("Student status",),
    ("Employment status",),
)
"""Per axis, the names that its column may have."""


def multipico_recipe(annotations: Table, raters: Table | None) -> Recipe | None:
    """MultiPICo with a reply as the item and ages in groups."""
    if not has(_TOLD, annotations) or not _tells_items(annotations):
        return None
    meant = points(annotations, "label", (0, 1), _MISSING)
    found = [first(names, raters, annotations) for names in _AXES]
    axes = tuple(name for name in found if name is not None)
    if not meant or not axes:
        return None
    recode: list[Recode] = [MapValues(None, renamed(meant, dict(enumerate(_CATEGORIES))))]
    sentences = [
        "an item is a reply to a post; the label is 'Ironic' (1) or 'Not ironic' (0)",
        "'DATA_EXPIRED', 'CONSENT_REVOKED' and 'Prefer not to say' count as unknown",
        "raters of different languages share no items: to compare across them, shuffle within 'language'",
    ]
    if _is_age(annotations, raters):
        age = str(first(["Age"], raters, annotations))
        recode.append(Bins(age, _AGES, _AGE_GROUPS))
        sentences.append(f"{quoted(age)} is cut into groups: {', '.join(_AGE_GROUPS)}")
    spec = DataSpec(
        item="reply_id",
        rater="annotator_id",
        label="label",
        text="reply",
        categories=_CATEGORIES,
        missing=_MISSING,
        recode=tuple(recode),
    )
    return Recipe("MultiPICo", spec, axes=tuple((name,) for name in axes), sentences=tuple(sentences))


def _tells_items(annotations: Table) -> bool:
    """Whether no two posts have replies of the same id."""
    post, reply = annotations.column("post_id"), annotations.column("reply_id")
    pairs = np.unique(reply.codes.astype(np.int64) * len(post.values) + post.codes)
    return pairs.size == len(reply.values)


def _is_age(annotations: Table, raters: Table | None) -> bool:
    column = first(["Age"], raters, annotations)
    if column is None:
        return False
    table = raters if raters is not None and column in raters.columns else annotations
    ages = [number_of(text) for text in texts(table, column, _MISSING)]
    return bool(ages) and all(15 < age < 110 for age in ages)
