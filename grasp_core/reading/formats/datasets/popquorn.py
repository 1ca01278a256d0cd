"""POPQUORN: offensiveness of comments, politeness of e-mails, difficulty of questions (Pei and Jurgens 2023).

Files ``raw_data.csv`` of github.com/Jiaxin-Pei/Potato-Prolific-Dataset. Answers to questions are free
texts, but how difficult they were is a rating; rewritten e-mails have no agreement to speak of.
"""

from __future__ import annotations

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.model.recode_steps import MapValues
from grasp_core.model.wording import quoted
from grasp_core.reading.formats.datasets._column_matching import has, points, renamed
from grasp_core.reading.table.table import Recipe, Table

_TASKS = ("offensiveness", "politeness", "difficulty")
_REWRITING = ("original email", "revised email")
_AXES = ("gender", "race", "age", "education", "occupation")
_SCALE = range(1, 6)
_UNDISCLOSED = "Prefer not to disclose"
_MISSING = ("", _UNDISCLOSED)


def popquorn_recipe(annotations: Table, raters: Table | None) -> Recipe | None:
    """One of POPQUORN's three ratings, its five points as categories.

    Raises DataError for its rewritten e-mails.
    """
    # The reader of Potato's exports, which the answers were gathered with, may have renamed the ids.
    item, rater = ("item", "rater") if annotations.recipe is not None else ("instance_id", "user_id")
    if not (has((item, rater), annotations) and has(_AXES, annotations, raters)):
        return None
    if has(_REWRITING, annotations):
        raise DataError(
            f"{annotations.name} is POPQUORN's e-mail rewriting: its answers ('revised email') are free "
            "texts, so there is no agreement to measure; its ratings of offensiveness or politeness would do"
        )
    label = next((task for task in _TASKS if has([task], annotations)), None)
    meant = points(annotations, label, _SCALE, _MISSING) if label is not None else {}
    if not meant:
        return None
    names = renamed(meant, {point: str(point) for point in _SCALE})
    spec = DataSpec(
        item=item,
        rater=rater,
        label=label,
        text="text" if has(["text"], annotations) else None,
        categories=tuple(str(point) for point in _SCALE),
        missing=_MISSING,
        recode=(MapValues(None, names),) if names else (),
    )
    sentences = (
        f"the label is {quoted(str(label))}, from 1 (least) to 5 (most); the points count as categories "
        "without an order",
        f"{quoted(_UNDISCLOSED)} counts as unknown",
    )
    return Recipe(f"POPQUORN, {label}", spec, axes=tuple((name,) for name in _AXES), sentences=sentences)
