"""Annotations found in any of Label Studio's exports, and which of them are ground truth."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grasp_core.model.errors import DataError
from grasp_core.model.remarks.cautions import Skipped
from grasp_core.model.wording import agree, number
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.rows import Row
from grasp_core.reading.formats.tools._label_studio_values import in_order
from grasp_core.reading.table.parsed import Parsed

OF_ANNOTATION = ("lead_time", "created_at", "updated_at")
STARRED = "starred"
"""Column that says of each annotation whether it is ground truth, and whose."""
_NO, _RATER, _REFERENCE = "no", "rater", "reference"
"""Its values: no ground truth; that of someone who also gave other answers; of someone who did not."""


@dataclass(slots=True)
class Found:
    """Annotations and notes collected from an export.

    `starred`: of each row, whether it is ground truth.
    `regions`: answers about parts of an item, which are no annotations of it.
    """

    rows: list[Row] = field(default_factory=list)
    starred: list[bool] = field(default_factory=list)
    kinds: dict[str, set[str]] = field(default_factory=dict)
    skipped: Counter[Skipped] = field(default_factory=Counter)
    regions: int = 0

    def add(self, row: Row, annotation: Mapping[str, Any]) -> None:
        """Put an annotation with its times into the rows."""
        times = rows.scalars({key: annotation.get(key) for key in OF_ANNOTATION})
        self.rows.append(dataclasses.replace(row, extra={**row.extra, **times}))
        self.starred.append(is_true(annotation.get("ground_truth")))

    def parsed(self, name: str, kind: str, sentences: Iterable[str] = ()) -> Parsed:
        """The table of the annotations.

        Raises DataError if there is no annotation, or none answers a question about its task as a whole.
        """
        if self.rows and not any(row.answers for row in self.rows):
            raise DataError(
                f"{name}: no annotation answers a question about its task as a whole (choices, rating, "
                "number, taxonomy, ranking or text); regions and relations are not read"
            )
        stars = _stars(self.rows, self.starred)
        marked = self.rows
        if any(self.starred):
            marked = [
                dataclasses.replace(row, extra={**row.extra, STARRED: star})
                for row, star in zip(self.rows, stars, strict=True)
            ]
        return rows.parsed(
            marked,
            name=name,
            kind=kind,
            skipped=self.skipped,
            sentences=[*rows.left_out({Skipped.REGIONS: self.regions}), *_about_stars(stars), *sentences],
            prefer=in_order(self.rows, self.kinds),
            drop=[(STARRED, _REFERENCE)] if _REFERENCE in stars else [],
        )


def is_true(value: Any) -> bool:
    """Whether a mark is set, in JSON or in a cell."""
    return value is True or (isinstance(value, str) and value.casefold() in ("true", "1"))


def _stars(found: Sequence[Row], starred: Sequence[bool]) -> list[str]:
    raters = {row.rater for row, star in zip(found, starred, strict=True) if not star}
    return [
        (_RATER if row.rater in raters else _REFERENCE) if star else _NO
        for row, star in zip(found, starred, strict=True)
    ]


def _about_stars(stars: Sequence[str]) -> list[str]:
    """The sentence on what becomes of ground truth, with counts of both kinds."""
    said = []
    if count := stars.count(_RATER):
        said.append(
            f"{number(count, 'ground-truth annotation')} of raters who answered others too "
            f"{agree(count, 'counts', 'count')} ({STARRED} = {_RATER})"
        )
    if count := stars.count(_REFERENCE):
        said.append(
            f"{number(count, 'ground-truth annotation')} of annotators who gave nothing else "
            f"{agree(count, 'is', 'are')} left out by a filter ({STARRED} = {_REFERENCE})"
        )
    return said
