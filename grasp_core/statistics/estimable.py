"""When a statistic has no value."""

from __future__ import annotations


class NotEstimableError(ValueError):
    """The data do not determine the statistic; the message says why, in words for the table."""


NO_PAIR = "no item was rated by two raters of the group"
NO_ANNOTATION = "the group has no annotations"
NO_SHARED_ITEM = "no item was rated both by the group and by the others"
ONE_LABEL_INSIDE = "everybody in the group gave one same label"
ONE_LABEL_ACROSS = "the group and the others all gave one same label"
ONE_PLURALITY = "one same label is the plurality of every item on both sides"
