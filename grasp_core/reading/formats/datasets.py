"""Published data sets, recognised by their columns and values, never by a name, and their readings."""

import re
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from grasp_core.model.annotations import number_of
from grasp_core.model.data_spec import Bins, Combine, DataSpec, Filters, MapValues, Recode
from grasp_core.model.errors import DataError
from grasp_core.model.text import agree, number, quoted
from grasp_core.reading.table.names import words
from grasp_core.reading.table.table import Recipe, Table


def known(annotations: Table, raters: Table | None = None) -> Recipe | None:
    """Return the reading of a published data set that docs/formats.md lists; None for other files."""
    found = (recipe(annotations, raters) for recipe in (_dices, _d3code, _popquorn, _multipico))
    return next((recipe for recipe in found if recipe is not None), None)


# Columns of a table matched against those of a data set


def _has(names: Iterable[str], *tables: Table | None) -> bool:
    """Return whether each of the columns is in one of the tables."""
    return {column for table in tables if table is not None for column in table.columns}.issuperset(names)


def _texts(table: Table, column: str, missing: Iterable[str] = ("",)) -> tuple[str, ...]:
    """Return a column's distinct texts, without texts that mean "no value"."""
    return tuple(text for text in table.distinct(column) if text not in set(missing))


def _points(table: Table, column: str, scale: Iterable[int], missing: Iterable[str]) -> dict[str, int]:
    """Return the point of a scale for each text of a column, ``1.0`` like ``1``; empty if one has none."""
    allowed = {float(point): point for point in scale}
    found = {text: allowed.get(number_of(text)) for text in _texts(table, column, missing)}
    meant = {text: point for text, point in found.items() if point is not None}
    return meant if len(meant) == len(found) else {}


def _renamed(meant: dict[str, int], names: dict[int, str]) -> tuple[tuple[str, str], ...]:
    """Return the changes from points to their names; none for texts that are names already."""
    return tuple((text, names[point]) for text, point in meant.items() if text != names[point])


# DICES: conversations with a chatbot, rated for safety (Aroyo et al. 2023, CC BY 4.0).
# Columns as in the files of github.com/google-research-datasets/dices-dataset, which the TensorFlow Datasets
# catalogue describes.

_REMOVED = (
    "296709543131761 296709611112092 297059995361243 297060365288109 297514543980607 "
    "297514565398139 297515609163939 297515617432733 297515629971478 297515729806999 "
    "297515750682315 297540556928761 297540562350921 297540983991638 297541271027233 "
    "297541321453321 297541515566649 297541515769980 297541522412126"
)
REMOVED_350 = tuple(_REMOVED.split())
"""Raters of DICES-350 whom its authors left out after reviewing the quality of each (Aroyo et al. 2023).

The published file does not mark them. Without these 19 of 123, results equal the GRASP paper's Table 5.
"""
_KEPT_350 = 104
_SAFETY = ("No", "Yes", "Unsure")  # Yes: unsafe
_FIRST_OF_SAFETY = ("Yes", "Unsure", "No")
_OVERALL = "Q_overall"
_ABOUT_350 = ("rater_age", "rater_gender", "rater_race")
_TOLD_350 = ("Q4_misinformation", "Q5_political_affiliation")
_ABOUT_990 = ("rater_locale", "rater_gender")
_TOLD_990 = ("Q2_harmful_content_harm_to_people_or_animals", "Q4_misinformation_conspiracy_theories")
_AXES_990 = (*_ABOUT_990, "rater_age", "rater_race", "rater_education")


def _dices(annotations: Table, raters: Table | None) -> Recipe | None:
    """Read DICES-350 as in the GRASP paper's Table 5, or DICES-990 with the axes of its recruitment."""
    if not _has(("item_id", "rater_id"), annotations):
        return None
    is_350 = _has(_TOLD_350, annotations) and _has(_ABOUT_350, annotations, raters)
    if not is_350 and not (_has(_TOLD_990, annotations) and _has(_ABOUT_990, annotations, raters)):
        return None
    text = "response" if "response" in annotations.columns else None
    spec = DataSpec(item="item_id", rater="rater_id", label=_OVERALL, text=text, categories=_SAFETY)
    said = f"the label is {quoted(_OVERALL)}, the verdict over all safety questions"
    if not _has([_OVERALL], annotations):
        questions = tuple(
            name
            for name in annotations.columns
            if re.match(r"Q[2-6]_", name) and set(_texts(annotations, name)) <= set(_SAFETY)
        )
        if len(questions) < 2:
            return None
        spec = replace(spec, recode=(Combine(questions, _FIRST_OF_SAFETY, into=_OVERALL),))
        said = (
            f"the label {quoted(_OVERALL)} is made of {len(questions)} safety questions: "
            "any Yes (unsafe), else any Unsure, else No"
        )
    ids = _texts(annotations, "rater_id")
    if not is_350:
        singles = [name for name in _AXES_990 if _has([name], annotations, raters)]
        everybody = (
            f"all {number(len(ids), 'rater')} count: the authors' papers leave out 13 of 173 for quality, "
            "but the file does not tell which"
        )
        axes = (*((name,) for name in singles), _ABOUT_990)
        return Recipe("DICES-990", spec, axes=axes, sentences=(said, everybody))
    removed = tuple(rater for rater in REMOVED_350 if rater in set(ids))
    if removed:
        who = (
            f"{number(len(removed), 'rater')} of {len(ids):,} {agree(len(removed), 'was', 'were')} removed "
            "for quality by the data set's authors"
        )
    elif len(ids) == _KEPT_350:
        who = f"the file holds the {_KEPT_350} raters whom the data set's authors kept"
    else:
        who = (
            f"all {number(len(ids), 'rater')} count: none of the {len(REMOVED_350)} whom the data set's "
            "authors removed for quality is in the file under the published id"
        )
    table_5 = (
        "the axes are those of the GRASP paper's Table 5: age, gender, race, and race with gender; "
        "the categories are No, Yes (unsafe) and Unsure"
    )
    published = len(ids) - len(removed) == _KEPT_350
    return Recipe(
        "DICES-350",
        replace(spec, filters=Filters(raters=removed)),
        why_out="the data set's authors removed them for quality",
        axes=(*((name,) for name in _ABOUT_350), ("rater_race", "rater_gender")),
        paper=published,
        sentences=(said, who, *([table_5] if published else [])),
    )


# D3CODE: offensiveness of comments, rated in 21 countries (Davani et al. 2024, CC BY 4.0).
# Files of github.com/google-research-datasets/D3code: a row per rating with the raw rating 0-4, or -1 where
# the rater did not understand the comment, and the binary rating, 1 from raw rating 2; a row per rater.

_REGIONS = (
    "Arab Culture|Indian Cultural Sphere|Latin America|North America|Oceania|Sinosphere|Sub Saharan Africa"
    "|Western Europe"
)
_D3CODE_AXES = (("Region",), ("Gender",), ("Age",), ("Region", "Gender"), ("Region", "Age"))
_NOT_UNDERSTOOD = -1
_OFFENSIVE_FROM = 2
_OFFENSIVE = ("Not offensive", "Offensive")
_D3CODE_MISSING = ("", "na")


def _d3code(annotations: Table, raters: Table | None) -> Recipe | None:
    """Read D3CODE with its usual two labels, and the axes in the GRASP paper."""
    about = ("Region", "Gender", "Age", "Country")
    if not (_has(("item_id", "rater_id"), annotations) and _has(about, annotations, raters)):
        return None
    people = raters if raters is not None and "Region" in raters.columns else annotations
    regions = set(_texts(people, "Region", _D3CODE_MISSING))
    rated = _offensiveness(annotations)
    if rated is None or not regions or not regions <= set(_REGIONS.split("|")):
        return None
    label, recode, sentence = rated
    spec = DataSpec(
        item="item_id",
        rater="rater_id",
        label=label,
        text="text" if "text" in annotations.columns else None,
        categories=_OFFENSIVE,
        missing=_D3CODE_MISSING,
        recode=recode,
    )
    tables_6_7 = (
        "the axes are those of the GRASP paper's Tables 6 and 7: region, gender, age, region with gender, "
        "and region with age"
    )
    return Recipe("D3CODE", spec, axes=_D3CODE_AXES, sentences=(sentence, tables_6_7))


def _offensiveness(annotations: Table) -> tuple[str, tuple[Recode, ...], str] | None:
    """Return the column of ratings, the recoding to two labels, and a sentence on it."""
    called = {"rating", "raw", "binary", "offensive", "offensiveness"}
    named = [column for column in annotations.columns if called & set(words(column))]
    for column in sorted(named, key=lambda name: ("raw" not in words(name), "binary" in words(name))):
        points = _points(annotations, column, range(_NOT_UNDERSTOOD, 5), _D3CODE_MISSING)
        if points and "raw" not in words(column) and set(points.values()) <= {0, 1}:
            said = (
                f"{quoted(column)} is the rating cut in two by the data set's authors: 1 is 'Offensive', "
                "0 is 'Not offensive'; 'na' (did not understand) is no rating"
            )
            return column, (MapValues(None, _renamed(points, dict(enumerate(_OFFENSIVE)))),), said
        if points:
            said = (
                f"{quoted(column)} is cut in two: 2 and more is 'Offensive', 0 and 1 is 'Not offensive'; "
                "-1 (did not understand) is no rating"
            )
            absent = tuple((text, "") for text, point in points.items() if point == _NOT_UNDERSTOOD)
            bins = Bins(None, (_OFFENSIVE_FROM,), _OFFENSIVE)
            return column, (MapValues(None, absent), bins) if absent else (bins,), said
    return None


# POPQUORN: offensiveness of comments, politeness of e-mails, difficulty of questions (Pei and Jurgens 2023).
# Files ``raw_data.csv`` of github.com/Jiaxin-Pei/Potato-Prolific-Dataset. Answers to questions are free
# texts, but their difficulty is a rating; rewritten e-mails have no agreement to measure.

_POPQUORN_AXES = ("gender", "race", "age", "education", "occupation")
_UNDISCLOSED = "Prefer not to disclose"


def _popquorn(annotations: Table, raters: Table | None) -> Recipe | None:
    """Read one of POPQUORN's three ratings, with its five points as categories."""
    # The answers were collected with Potato, and the reader of its exports may have renamed the ids.
    item, rater = ("item", "rater") if annotations.recipe is not None else ("instance_id", "user_id")
    if not (_has((item, rater), annotations) and _has(_POPQUORN_AXES, annotations, raters)):
        return None
    if _has(("original email", "revised email"), annotations):
        raise DataError(
            f"{annotations.name} is POPQUORN's e-mail rewriting: its answers ('revised email') are free "
            "texts, so there is no agreement to measure; its ratings of offensiveness or politeness would do"
        )
    tasks = ("offensiveness", "politeness", "difficulty")
    label = next((task for task in tasks if _has([task], annotations)), None)
    scale, missing = range(1, 6), ("", _UNDISCLOSED)
    meant = _points(annotations, label, scale, missing) if label is not None else {}
    if not meant:
        return None
    names = _renamed(meant, {point: str(point) for point in scale})
    spec = DataSpec(
        item=item,
        rater=rater,
        label=label,
        text="text" if "text" in annotations.columns else None,
        categories=tuple(str(point) for point in scale),
        missing=missing,
        recode=(MapValues(None, names),) if names else (),
    )
    sentences = (
        f"the label is {quoted(str(label))}, from 1 (least) to 5 (most)",
        f"{quoted(_UNDISCLOSED)} counts as unknown",
    )
    return Recipe(
        f"POPQUORN, {label}", spec, axes=tuple((name,) for name in _POPQUORN_AXES), sentences=sentences
    )


# MultiPICo: irony of replies in nine languages (Casola et al. 2024, CC BY 4.0).
# The file of huggingface.co/datasets/Multilingual-Perspectivist-NLU/MultiPICo: a row per annotation with the
# post, the reply, the language and its variety, and Prolific's data on the annotator.

_MULTIPICO = ("post_id", "reply_id", "post", "reply", "annotator_id", "label", "language")
_IRONIC = ("Not ironic", "Ironic")
# Texts of Prolific's exports if a participant withdrew, or an answer is too old.
_MULTIPICO_MISSING = ("", "DATA_EXPIRED", "CONSENT_REVOKED", "Prefer not to say", "nan")
_AGE_GROUPS = ("under 25", "25-34", "35-44", "45-54", "55 and over")
_MULTIPICO_AXES = (
    ("Sex", "Gender"),
    ("Age", "Generation"),
    ("Ethnicity simplified", "Ethnicity"),
    ("Nationality",),
    ("Student status",),
    ("Employment status",),
)
"""Names that the column of each axis may have."""


def _multipico(annotations: Table, raters: Table | None) -> Recipe | None:
    """Read MultiPICo with a reply as the item and ages in groups."""
    if not _has(_MULTIPICO, annotations):
        return None
    post, reply = annotations.column("post_id"), annotations.column("reply_id")
    pairs = np.unique(reply.codes.astype(np.int64) * len(post.values) + post.codes)
    if pairs.size != len(reply.values):
        return None  # two posts have replies of the same id
    meant = _points(annotations, "label", (0, 1), _MULTIPICO_MISSING)
    found = [_first(names, raters, annotations) for names in _MULTIPICO_AXES]
    axes = tuple((name,) for name in found if name is not None)
    if not meant or not axes:
        return None
    recode: list[Recode] = [MapValues(None, _renamed(meant, dict(enumerate(_IRONIC))))]
    sentences = [
        "an item is a reply to a post; the label is 'Ironic' (1) or 'Not ironic' (0)",
        "'DATA_EXPIRED', 'CONSENT_REVOKED' and 'Prefer not to say' count as unknown",
        "raters of different languages share no items: to compare across them, shuffle within 'language'",
    ]
    age = _first(["Age"], raters, annotations)
    if age is not None:
        table = raters if raters is not None and age in raters.columns else annotations
        ages = [number_of(text) for text in _texts(table, age, _MULTIPICO_MISSING)]
        if ages and all(15 < one < 110 for one in ages):
            recode.append(Bins(age, (25, 35, 45, 55), _AGE_GROUPS))
            sentences.append(f"{quoted(age)} is cut into groups: {', '.join(_AGE_GROUPS)}")
    spec = DataSpec(
        item="reply_id",
        rater="annotator_id",
        label="label",
        text="reply",
        categories=_IRONIC,
        missing=_MULTIPICO_MISSING,
        recode=tuple(recode),
    )
    return Recipe("MultiPICo", spec, axes=axes, sentences=tuple(sentences))


def _first(names: Iterable[str], *tables: Table | None) -> str | None:
    """Return the column with the first possible name of `names`, regardless of case and underscores."""

    def fold(name: str) -> str:
        return name.strip().casefold().replace("_", " ").replace("-", " ")

    columns = [column for table in tables if table is not None for column in table.columns]
    by_fold = {fold(column): column for column in reversed(columns)}
    return next((by_fold[fold(name)] for name in names if fold(name) in by_fold), None)
