"""Remarks of the benchmark: baselines, endpoints, ranks, submissions."""

from collections.abc import Iterable, Mapping
from enum import unique

from grasp_core.model.remarks.cautions import Caution, GuardCaution, ScreenCaution, ShuffleCaution
from grasp_core.model.remarks.remark import Code, Remark


@unique
class BaselineCaution(Code):
    """Cautions on a baseline's score, by the way in which it was evaluated."""

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


_REFUSED = "The endpoint {url} refused with status {status:d}"
_KEY = "the key in the environment variable {variable}{variable:!(none; --key-variable names one)}"


@unique
class ModelProblem(Code):
    """Reasons why a model gave no answer; if `options` is 0, options of the command line are not named."""

    PROMPT_TOO_LONG = "A prompt has {tokens} tokens, more than the model's window"
    NO_ANSWER_IN_TIME = "The endpoint {url} did not answer within {seconds:g} seconds"
    OUT_OF_REACH = "The endpoint {url} cannot be reached; check the address and that it is running"
    POINTS_ELSEWHERE = (
        "The endpoint {url} points to another address (status {status:d}), which is not asked: name it"
    )
    CANNOT_BE_ASKED = "The endpoint {url} cannot be asked ({error})"
    ANSWER_NO_JSON = "The endpoint {url} answered something that is no JSON"
    NO_LOGPROBS = (
        "The endpoint {url} answered without log-probabilities; "
        "take a model that gives `top_logprobs` for completions{options:?, or ask it as a chat (--chat)}"
    )
    NO_TEXT = "The endpoint {url} answered without a text; take a model that answers in words"
    LOGPROBS_NO_NUMBERS = "The endpoint {url} answered log-probabilities that are no numbers"
    REFUSED = _REFUSED
    REFUSED_QUESTION = (
        _REFUSED + ": it may want fewer log-probabilities{options:? (--top-logprobs)} "
        "or a shorter prompt{options:? (--window)}"
    )
    REFUSED_KEY = _REFUSED + f": {_KEY} is missing or not accepted"
    REFUSED_MODEL = _REFUSED + f": {_KEY} may not use this model"
    NO_SUCH_MODEL = _REFUSED + ": it knows no such model, or has no completions at this address"
    REFUSED_LOGPROBS = (
        _REFUSED + ": it may want fewer log-probabilities{options:? (--top-logprobs)}, "
        "or not offer completions"
    )
    TOO_MANY_QUESTIONS = _REFUSED + ": too many questions were asked, or the account is used up"


OF_DATA = 6
"""Rank of oddities in the data, and of sentences without a code."""

RANKS: Mapping[Code, int] = {
    GuardCaution.OWN_WORKLOAD: 0,
    GuardCaution.OWN_ITEMS: 0,
    GuardCaution.OWN_WORKLOAD_WITH_MODELS: 0,
    GuardCaution.OWN_ITEMS_WITH_MODELS: 0,
    GuardCaution.GAI_OF_OTHER_ITEMS: 1,
    GuardCaution.AXES_TOGETHER: 1,
    GuardCaution.ONE_SPLIT: 1,
    Caution.RANDOM_RESPONDERS: 1,
    Caution.CONSTANT_RATERS: 1,
    Caution.NEAR_DUPLICATES: 1,
    ScreenCaution.SCREENED_IN_GROUPS: 1,
    Caution.TOO_FEW_FOR_P: 2,
    Caution.TOO_FEW_FOR_CORRECTION: 3,
    Caution.FEW_REGROUPINGS: 3,
    Caution.CLUSTERS_STAY: 3,
    ShuffleCaution.MIXED_CLUSTERS: 3,
    Caution.PAPER_P: 4,
    Caution.NO_GROUP_IN_SLICES: 5,
    ShuffleCaution.UNKNOWN_STRATUM: 6,
    ShuffleCaution.UNKNOWN_CLUSTER: 6,
    ShuffleCaution.ONE_STRATUM: 6,
    Caution.TOO_MANY_PAIRS: 7,
    Caution.SMALL_GROUPS: 8,
    Caution.FEW_RATERS_HIDDEN: 8,
    Caution.ITEMS_WITHOUT_PAIRS: 8,
    Caution.DISTANCE_OF_SHARES: 8,
    Caution.SOME_NOT_ESTIMABLE: 9,
    Caution.PAPER_CROSS_NEGENTROPY: 9,
}
"""Ranks by code, the gravest first: marks may be wrong, marks are missing, a requested part is missing."""


_GRAVE = 3
"""Last rank of warnings that may invalidate a run's findings, or explain why it finds nothing."""


def may_undo(warning: Remark) -> bool:
    """Return whether a warning may invalidate findings, so that it should be read before them."""
    return RANKS.get(warning.code, OF_DATA) <= _GRAVE


def ranked(warnings: Iterable[Remark]) -> tuple[Remark, ...]:
    """Sort warnings by rank; warnings of equal rank keep their order."""
    return tuple(sorted(warnings, key=lambda one: RANKS.get(one.code, OF_DATA)))


_LIKEWISE = "{more:? ({more:more row} likewise)}"


@unique
class SubmissionProblem(Code):
    """Problems with a submission's files, rows and labels."""

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
