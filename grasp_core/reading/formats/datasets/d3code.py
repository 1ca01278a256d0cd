"""D3CODE: offensiveness of comments, rated in 21 countries (Davani et al. 2024, CC BY 4.0).

Files of github.com/google-research-datasets/D3code: a row per rating with the raw rating 0-4, or -1 where the
rater did not understand the comment, and the binary rating, 1 from raw rating 2; a row per rater.
"""

from __future__ import annotations

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.recode_steps import Bins, MapValues, Recode
from grasp_core.model.wording import quoted
from grasp_core.reading.formats.datasets._column_matching import has, points, renamed, texts
from grasp_core.reading.table.names import words
from grasp_core.reading.table.table import Recipe, Table

_IDS = ("item_id", "rater_id")
_ABOUT = ("Region", "Gender", "Age", "Country")
_REGIONS = frozenset(
    (
        "Arab Culture",
        "Indian Cultural Sphere",
        "Latin America",
        "North America",
        "Oceania",
        "Sinosphere",
        "Sub Saharan Africa",
        "Western Europe",
    )
)
_AXES = (("Region",), ("Gender",), ("Age",), ("Region", "Gender"), ("Region", "Age"))
_NOT_UNDERSTOOD = -1
_OFFENSIVE_FROM = 2
_CATEGORIES = ("Not offensive", "Offensive")
_MISSING = ("", "na")
_NAMES = frozenset(("rating", "raw", "binary", "offensive", "offensiveness"))
_TABLES_6_7 = (
    "the axes are those of the GRASP paper's Tables 6 and 7: region, gender, age, region with gender, and "
    "region with age"
)


def d3code_recipe(annotations: Table, raters: Table | None) -> Recipe | None:
    """D3CODE with its usual two labels, and the axes that the GRASP paper looks at."""
    if not (has(_IDS, annotations) and has(_ABOUT, annotations, raters)):
        return None
    people = raters if raters is not None and "Region" in raters.columns else annotations
    regions = set(texts(people, "Region", _MISSING))
    rated = _label(annotations)
    if rated is None or not regions or not regions <= _REGIONS:
        return None
    label, recode, sentence = rated
    spec = DataSpec(
        item="item_id",
        rater="rater_id",
        label=label,
        text="text" if has(["text"], annotations) else None,
        categories=_CATEGORIES,
        missing=_MISSING,
        recode=recode,
    )
    return Recipe("D3CODE", spec, axes=_AXES, sentences=(sentence, _TABLES_6_7))


def _label(annotations: Table) -> tuple[str, tuple[Recode, ...], str] | None:
    """The column with the ratings, how two labels are made of it, and that in a sentence."""
    named = [column for column in annotations.columns if _NAMES & set(words(column))]
    for column in sorted(named, key=lambda name: ("raw" not in words(name), "binary" in words(name))):
        raw = points(annotations, column, range(_NOT_UNDERSTOOD, 5), _MISSING)
        if raw and "raw" not in words(column) and set(raw.values()) <= {0, 1}:
            return _binary(column, raw)
        if raw:
            return _raw(column, raw)
    return None


def _raw(column: str, points: dict[str, int]) -> tuple[str, tuple[Recode, ...], str]:
    absent = tuple((text, "") for text, point in points.items() if point == _NOT_UNDERSTOOD)
    bins = Bins(None, (_OFFENSIVE_FROM,), _CATEGORIES)
    return (
        column,
        (MapValues(None, absent), bins) if absent else (bins,),
        f"{quoted(column)} is cut in two: 2 and more is 'Offensive', 0 and 1 is 'Not offensive'; "
        "-1 (did not understand) is no rating",
    )


def _binary(column: str, points: dict[str, int]) -> tuple[str, tuple[Recode, ...], str]:
    names = renamed(points, dict(enumerate(_CATEGORIES)))
    return (
        column,
        (MapValues(None, names),),
        f"{quoted(column)} is the rating cut in two by the data set's authors: 1 is 'Offensive', "
        "0 is 'Not offensive'; 'na' (did not understand) is no rating",
    )
