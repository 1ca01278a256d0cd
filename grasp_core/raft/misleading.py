"""Where a baseline's score misleads, in sentences."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from grasp_core.raft.folds import Fold
from grasp_core.raft.tasks import Rows


def loo_cautions(labels: Sequence[str]) -> tuple[str, ...]:
    """Of leave-one-out."""
    counts = Counter(labels)
    found = [
        "Leave-one-out makes the class of the row left out rarer among the others than it is, so methods "
        "that lean on class frequencies look worse than they are."
    ]
    most = counts.most_common(2)
    if len(most) > 1 and most[0][1] == most[1][1]:
        found.append(
            "The largest classes here have equally many rows: the most frequent class of the others is then "
            "never theirs, and plurality gets none of them right."
        )
    single = sum(count == 1 for count in counts.values())
    if single:
        found.append(_singles(single, "is left without an example when its row is left out"))
    return tuple(found)


def split_cautions(labels: Sequence[str], folds: Sequence[Fold]) -> tuple[str, ...]:
    """Of repeated stratified splits."""
    found = [
        f"Splits learn from about {len(folds[0].train)} rows, not {len(labels)}, and label few, so that "
        "single scores are rough; their interval says how much they vary, not how far off their mean is."
    ]
    single = sum(count == 1 for count in Counter(labels).values())
    if single:
        found.append(_singles(single, "stays among those learnt from and is never tested"))
    rare = sum(1 < count < 5 for count in Counter(labels).values())
    if rare:
        found.append(f"Rare classes ({rare} with 2 to 4 rows) are missing from most splits' tests.")
    return tuple(found)


def file_cautions(train: Rows, test: Rows) -> tuple[str, ...]:
    """Of other labelled rows."""
    known = {json.dumps(text, sort_keys=True) for text in train.texts}
    both = sum(json.dumps(text, sort_keys=True) in known for text in test.texts)
    if not both:
        return ()
    return (
        f"{both:,} of the {len(test.ids):,} rows are also among those learnt from, which flatters the score.",
    )


def _singles(count: int, what: str) -> str:
    return f"A class with a single row ({count} here) {what}."
