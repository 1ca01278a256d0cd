"""Where a baseline's score misleads."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from grasp_core.benchmark.scoring.folds import Fold
from grasp_core.benchmark.tasks import Rows
from grasp_core.remarks.baselines import BaselineCaution
from grasp_core.remarks.remark import Remark


def loo_cautions(labels: Sequence[str]) -> tuple[Remark, ...]:
    """Of leave-one-out."""
    counts = Counter(labels)
    found = [BaselineCaution.LEAVE_ONE_OUT()]
    most = counts.most_common(2)
    if len(most) > 1 and most[0][1] == most[1][1]:
        found.append(BaselineCaution.LARGEST_CLASSES_ALIKE())
    single = sum(count == 1 for count in counts.values())
    if single:
        found.append(BaselineCaution.SINGLE_WITHOUT_EXAMPLE(classes=single))
    return tuple(found)


def split_cautions(labels: Sequence[str], folds: Sequence[Fold]) -> tuple[Remark, ...]:
    """Of repeated stratified splits."""
    counts = Counter(labels).values()
    found = [BaselineCaution.SPLITS(learnt=len(folds[0].train), rows=len(labels))]
    single = sum(count == 1 for count in counts)
    if single:
        found.append(BaselineCaution.SINGLE_NEVER_TESTED(classes=single))
    rare = sum(1 < count < 5 for count in counts)
    if rare:
        found.append(BaselineCaution.RARE_CLASSES(classes=rare))
    return tuple(found)


def file_cautions(train: Rows, test: Rows) -> tuple[Remark, ...]:
    """Of other labelled rows."""
    known = {json.dumps(text, sort_keys=True) for text in train.texts}
    both = sum(json.dumps(text, sort_keys=True) in known for text in test.texts)
    return (BaselineCaution.ROWS_LEARNT_FROM(both=both, rows=len(test.ids)),) if both else ()
