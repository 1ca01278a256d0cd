"""DICES: conversations with a chatbot, rated for safety (Aroyo et al. 2023, CC BY 4.0).

Columns: the files of github.com/google-research-datasets/dices-dataset, as the TensorFlow Datasets
catalogue describes them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from grasp_core.model.data_spec import DataSpec, Filters
from grasp_core.model.recode_steps import Combine
from grasp_core.model.wording import agree, number, quoted
from grasp_core.reading.formats.datasets._column_matching import has, texts
from grasp_core.reading.table.table import Recipe, Table

REMOVED_350 = (
    "296709543131761",
    "296709611112092",
    "297059995361243",
    "297060365288109",
    "297514543980607",
    "297514565398139",
    "297515609163939",
    "297515617432733",
    "297515629971478",
    "297515729806999",
    "297515750682315",
    "297540556928761",
    "297540562350921",
    "297540983991638",
    "297541271027233",
    "297541321453321",
    "297541515566649",
    "297541515769980",
    "297541522412126",
)
"""Raters of DICES-350 whom its authors left out after reviewing the quality of each (Aroyo et al. 2023).

The published file does not mark them. Without these 19 of 123, the GRASP paper's Table 5 comes out.
"""
KEPT_350 = 104

_CATEGORIES = ("No", "Yes", "Unsure")  # Yes: unsafe
_PRIORITY = ("Yes", "Unsure", "No")
_OVERALL = "Q_overall"
_QUESTION = re.compile(r"Q[2-6]_")
_IDS = ("item_id", "rater_id")
_ABOUT_350 = ("rater_age", "rater_gender", "rater_race")
_TOLD_350 = ("Q4_misinformation", "Q5_political_affiliation")
_ABOUT_990 = ("rater_locale", "rater_gender")
_TOLD_990 = ("Q2_harmful_content_harm_to_people_or_animals", "Q4_misinformation_conspiracy_theories")
_AXES_990 = (*_ABOUT_990, "rater_age", "rater_race", "rater_education")
_TABLE_5 = (
    "the axes are those of the GRASP paper's Table 5: age, gender, race, and race with gender; "
    "the categories are No, Yes (unsafe) and Unsure"
)


def recipe_350(annotations: Table, raters: Table | None) -> Recipe | None:
    """DICES-350 as the GRASP paper's Table 5 has it."""
    label = _label(annotations)
    if label is None or not (has(_TOLD_350, annotations) and has(_ABOUT_350, annotations, raters)):
        return None
    ids = texts(annotations, "rater_id")
    removed = tuple(rater for rater in REMOVED_350 if rater in set(ids))
    published = len(ids) - len(removed) == KEPT_350
    return Recipe(
        "DICES-350",
        replace(label.spec, filters=Filters(raters=removed)),
        why_out="the data set's authors removed them for quality",
        axes=(*((name,) for name in _ABOUT_350), ("rater_race", "rater_gender")),
        paper=published,
        sentences=(label.sentence, _who_350(len(ids), len(removed)), *([_TABLE_5] if published else [])),
    )


def recipe_990(annotations: Table, raters: Table | None) -> Recipe | None:
    """DICES-990 with the two axes its raters were recruited by, and those its file also tells."""
    label = _label(annotations)
    if label is None or not (has(_TOLD_990, annotations) and has(_ABOUT_990, annotations, raters)):
        return None
    singles = [name for name in _AXES_990 if has([name], annotations, raters)]
    everybody = number(len(texts(annotations, "rater_id")), "rater")
    return Recipe(
        "DICES-990",
        label.spec,
        axes=(*((name,) for name in singles), _ABOUT_990),
        sentences=(
            label.sentence,
            f"all {everybody} count: the authors' papers leave out 13 of 173 for quality, but the file does "
            "not tell which",
        ),
    )


def _who_350(n: int, removed: int) -> str:
    if removed:
        return (
            f"{number(removed, 'rater')} of {n:,} {agree(removed, 'was', 'were')} removed for quality by the "
            "data set's authors"
        )
    if n == KEPT_350:
        return f"the file holds the {KEPT_350} raters whom the data set's authors kept"
    return (
        f"all {number(n, 'rater')} count: none of the {len(REMOVED_350)} whom the data set's authors removed "
        "for quality is in the file under the published id"
    )


@dataclass(frozen=True, slots=True)
class _Label:
    spec: DataSpec
    sentence: str


def _label(annotations: Table) -> _Label | None:
    """Reading of the verdict over all safety questions, put together where the file lacks it."""
    if not has(_IDS, annotations):
        return None
    spec = DataSpec(
        item="item_id",
        rater="rater_id",
        label=_OVERALL,
        text="response" if has(["response"], annotations) else None,
        categories=_CATEGORIES,
    )
    if has([_OVERALL], annotations):
        return _Label(spec, f"the label is {quoted(_OVERALL)}, the verdict over all safety questions")
    questions = tuple(name for name in annotations.columns if _is_question(annotations, name))
    if len(questions) < 2:
        return None
    return _Label(
        replace(spec, recode=(Combine(questions, _PRIORITY, into=_OVERALL),)),
        f"the label {quoted(_OVERALL)} is made of {len(questions)} safety questions: "
        "any Yes (unsafe), else any Unsure, else No",
    )


def _is_question(annotations: Table, name: str) -> bool:
    return bool(_QUESTION.match(name)) and set(texts(annotations, name)) <= set(_PRIORITY)
