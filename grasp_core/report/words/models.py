"""Names and explanations of the statistics of models and groups."""

from __future__ import annotations

from dataclasses import dataclass

from grasp_core.report.words.names import DSI_NAME, LABEL_USE_NAME, MEAN_SHIFT_NAME, WORDS

LEAD = "macro_f1"
"""The statistic of the table and the chart; of those that show a side it is named first."""


@dataclass(frozen=True, slots=True)
class SideWords:
    """How people read about one statistic; `short` is its name within a sentence."""

    name: str
    short: str
    explanation: str


SIDE_WORDS = {
    "macro_f1": SideWords(
        "Macro-F1",
        "macro-F1",
        "The model against the group's most common label per item: F1 of each label that either gives, "
        "averaged. 1 is a perfect copy.",
    ),
    "share": SideWords(
        "Same label", "same label", "Share of items on which the model gives the group's most common label."
    ),
    "xrr": SideWords(
        "XRR",
        "XRR",
        "How well the model, as one rater, agrees with the group's members, corrected for chance: 1 is full "
        "agreement, 0 is what random labels would give.",
    ),
    "cross_entropy": SideWords(
        "Cross-entropy",
        "cross-entropy",
        "How badly the model's label, smoothed, predicts the members' labels (nats). Smaller is closer.",
    ),
    "js_divergence": SideWords(
        "Jensen–Shannon",
        "Jensen–Shannon",
        "Divergence between the members' shares of labels and the model's one label (nats): 0 to 0.693. "
        "Smaller is closer.",
    ),
}
"""One entry per statistic of ``SIDES``, the lead first: the order in which people see them."""


LABEL_USE, LABELS, MEAN, DSI = "label_use", "labels", "mean_shift", "dsi"
"""What is told beside statistics: a group's test of all labels, each further label, the mean; axes' DSI."""
_BESIDE = {LABEL_USE: LABEL_USE_NAME, LABELS: "Further labels", MEAN: MEAN_SHIFT_NAME, DSI: DSI_NAME}


def statistic_name(statistic: str) -> str:
    """The name of a statistic of groups, or of models and groups."""
    if statistic in _BESIDE:
        return _BESIDE[statistic]
    return SIDE_WORDS[statistic].name if statistic in SIDE_WORDS else WORDS[statistic].name


REPRODUCED = (
    "A group's view counts as reproduced where a model's macro-F1 against the group's plurality reaches what "
    "the group's own members reach: all their labels, each compared with the plurality of the group's others "
    "(leave-one-out)."
)
SIDES_WITH = (
    "A model sides with a group where it is closer to it than to random groups of the same size, made by "
    "shuffling the raters' profiles, and against it where it is further; on the statistics named, each "
    "corrected for testing all groups."
)
