"""Questions that a data set read part by part refuses, and what would do: one list for all who ask."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from grasp_core.data_spec import DataSpec
from grasp_core.errors import SpecError

_CANNOT = "a data set that is read part by part cannot be read with "
REFUSED: Mapping[str, str] = {
    "layout": f"{_CANNOT}a matrix; write the folder with a row per annotation",
    "min_per_rater": f"{_CANNOT}a smallest number of annotations per rater, since a rater's lie in several "
    "parts; mark such raters in the raters file and exclude them by that",
    "min_gold": f"{_CANNOT}right labels, since a rater's annotations lie in several parts; mark raters in "
    "the raters file and exclude them by that",
    "screens": f"{_CANNOT}screens, since a rater's annotations lie in several parts; mark raters in "
    "the raters file and exclude them by that",
    "items": f"{_CANNOT}an items file; write what it says of the items into the folder's columns",
    "slices": f"{_CANNOT}slices; write a folder of the items of each value, and run each by itself",
    "models": f"{_CANNOT}models as raters; write a folder of the items that they labelled",
    "raters": "{name} is read part by part, so its raters are described in a file of their own; name it as "
    "the raters file",
}
"""Fields of a spec, and the raters file where there is none: the sentence by which each is refused.

Axes that the annotations alone describe are refused as problems of the data are (`ONLY_RATERS_FILE`).
"""


def check_supported(spec: DataSpec, models: Collection[object] = (), slices: Collection[object] = ()) -> None:
    """Refuse readings, and runs with models or slices, that need all parts at once.

    Raises
    ------
    SpecError
    """
    asked = {
        "layout": spec.layout != "long",
        "min_per_rater": spec.filters.min_per_rater > 1,
        "min_gold": spec.filters.min_gold is not None,
        "screens": bool(spec.screens),
        "items": spec.items_id is not None,
        "slices": bool(slices),
        "models": bool(models),
    }
    found = [REFUSED[name] for name, is_asked in asked.items() if is_asked]
    if found:
        raise SpecError("; and ".join(found))
