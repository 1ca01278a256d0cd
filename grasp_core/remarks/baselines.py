"""Where a baseline's score misleads."""

from __future__ import annotations

from enum import unique

from grasp_core.remarks.remark import Code


@unique
class BaselineCaution(Code):
    """What to keep in mind of a baseline's score, by how it was evaluated."""

    LEAVE_ONE_OUT = (
        "Leave-one-out makes the class of the row left out rarer among the others than it is, so methods "
        "that lean on class frequencies look worse than they are."
    )
    LARGEST_CLASSES_ALIKE = (
        "The largest classes here have equally many rows: the most frequent class of the others is then "
        "never theirs, and plurality gets none of them right."
    )
    SINGLE_WITHOUT_EXAMPLE = (
        "A class with a single row ({classes:d} here) is left without an example when its row is left out."
    )
    SPLITS = (
        "Splits learn from about {learnt:d} rows, not {rows:d}, and label few, so that single scores are "
        "rough; their interval says how much they vary, not how far off their mean is."
    )
    SINGLE_NEVER_TESTED = (
        "A class with a single row ({classes:d} here) stays among those learnt from and is never tested."
    )
    RARE_CLASSES = "Rare classes ({classes:d} with 2 to 4 rows) are missing from most splits' tests."
    ROWS_LEARNT_FROM = "{both} of the {rows} rows are also among those learnt from, which flatters the score."
