"""Why rows, cells or answers do not count."""

from __future__ import annotations

from enum import unique

from grasp_core.remarks.remark import Code


@unique
class LeftOutReason(Code):
    """What is left out when annotations are read, as it stands behind its number."""

    NO_LABEL = "no label"
    REPEATED_ALIKE = "repeated with the same label"
    COLUMN_PUT_ASIDE = "column {column:q} put aside"
    RATERS_WITH = "raters with {values:or}"
    WITH_VALUE = "{column:q} = {value:q}"
    LISTED_RATERS = "raters on the exclusion list"
    LISTED_ITEMS = "items on the exclusion list"
    TIME_BELOW = "{column:q} below {low:g}, or no number"
    TIME_ABOVE = "{column:q} above {high:g}, or no number"
    TIME_OUTSIDE = "{column:q} below {low:g} or above {high:g}, or no number"
    TOO_FEW_RIGHT = "raters with less than {share:.0%} of the labels in {column:q} right"
    RATERS_WITH_FEWER = "raters with fewer than {least} annotations"
    ITEMS_WITH_FEWER = "items with fewer than {least} annotations"
    AT_CHANCE = "raters whose labels agree with those of others no more than chance does"
    ONE_LABEL_ALWAYS = "raters who gave one label always"
    TOO_CLOSE = "one rater of each two who agree too closely"
    ANSWERED_AGAIN = "{which} answers of a rater to the same item, by the order of rows"
    ANSWERED_AGAIN_BY_TIME = "{which} answers of a rater to the same item, by the times in {column:q}"
    IN_QUESTION = "{reason}, in {question:q}"
    ANY_REASON = "any reason"


@unique
class Skipped(Code):
    """What the readers of tools' exports skip: in the plural, and in the singular."""

    one: str

    def __new__(cls, many: str, one: str) -> Skipped:
        """Make a member of its two forms."""
        member = object.__new__(cls)
        member._value_, member.one = many, one
        return member

    UNKNOWN_ANNOTATOR = "annotations of an unknown annotator", "annotation of an unknown annotator"
    CANCELLED = "cancelled annotations", "cancelled annotation"
    PREDICTIONS = "predictions", "prediction"
    DRAFTS = "drafts", "draft"
    REGIONS = "answers about regions or relations", "answer about a region or relation"
    UNANNOTATED_TASKS = "tasks without annotations", "task without annotations"
    UNANSWERED_TASKS = "tasks that were left without an answer", "task that was left without an answer"
    UNSUBMITTED = "responses that were not submitted", "response that was not submitted"
    WITHOUT_STATUS = "responses without a status", "response without a status"
    ITEMS_WITHOUT_INPUT = "items without input", "item without input"
