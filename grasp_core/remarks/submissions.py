"""What is wrong with a submission to the benchmark; headlines are the original validator's, word for word."""

from __future__ import annotations

from enum import unique

from grasp_core.remarks.remark import Code

_LIKEWISE = "{more:? ({more:more row} likewise)}"


@unique
class SubmissionProblem(Code):
    """What is wrong with the files, their rows and labels."""

    NUMBER_OF_FILES = "Incorrect number of files! Expected {expected:d} files, but got {found:d}."
    SHAPES = "Incorrect CSV shapes in files: {paths}"
    COLUMNS = "Incorrect CSV columns in files: {paths}"
    UNREADABLE = "Could not load predictions! Errors: {errors}"
    FILE_MISSING = "data/{task}/{name} is missing; the submission has no labels for the task {task}"
    FILE_OF_NO_TASK = (
        "{path} belongs to none of the {tasks:d} tasks; remove it, or name it data/<task>/{name}"
    )
    ROWS_EXPECTED = "{path} has {rows:row} below its header; {task} has {expected:row} to be labelled"
    TWO_COLUMNS_EXPECTED = "{path}, row 1: {columns:d} columns were found; there must be 2"
    HEADER_EXPECTED = "{path}, row 1: the header names {columns}; it must be {expected}"
    ID_AGAIN = (
        "{place}: the ID {id:q} occurs again, first in row {first:d}" + _LIKEWISE + "; give every ID one row"
    )
    ID_OF_NO_TEST_ROW = (
        "{place}: the ID {id:q} is of no test row"
        + _LIKEWISE
        + "; test rows have whole numbers from {least:d}"
    )
    ID_OF_NO_ROW = (
        "{place}: the ID {id:q} is of no row of {task}"
        + _LIKEWISE
        + "; use the IDs of the rows to be labelled"
    )
    OTHER_ORDER = "{path}: the rows stand in another order than {task}'s; they are found by {key}"
    ROWS_MISSING = "{path} has no row for {ids:ID} of {task}: {missing:5}; label every row"
    LABEL_PRIVATE = (
        "{place}: the label is {label:q}, which marks rows whose label is private"
        + _LIKEWISE
        + "; use one of {classes:5}"
    )
    LABEL_OF_NO_CLASS = (
        "{place}: the label {label:q} is none of the {count:d} classes of {task}"
        + _LIKEWISE
        + "; {close:?did you mean {close}?}{close:!use one of {classes:5}}"
    )
