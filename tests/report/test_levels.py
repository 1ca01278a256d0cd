"""Levels of measurement that labels ask for, and the sentence that says which labels were looked at."""

from dataclasses import replace

import pytest

from grasp_core.model.data_spec import DataSpec, Question
from grasp_core.report.words.label_use import labelled_sentence
from grasp_core.report.words.levels import proposed_levels
from tests.results import make_result


@pytest.mark.parametrize(
    ("labels", "levels"),
    [
        (("1", "2", "3", "4", "5"), ("ordinal", "interval")),
        (("1.0", "2.0", "3.0", "4.0", "5.0"), ("ordinal", "interval")),
        (("5", "4", "3", "2", "1"), ("ordinal", "interval")),
        (("-2", "-1", "0", "1", "2"), ("ordinal", "interval")),
        (("1", "2", "4", "5"), ("ordinal", "interval")),
        (("0", "25", "50", "75", "100"), ("ordinal", "interval")),
        (tuple(str(n) for n in range(0, 101, 3)), ("interval", "ordinal")),
        (tuple(f"{n * 1.7:.2f}" for n in range(60)), ("interval", "ordinal")),
        (("1", "3", "2"), ("interval",)),
    ],
)
def test_numbers_of_one_scale(labels, levels):
    proposal = proposed_levels(labels)
    assert proposal.levels == levels


@pytest.mark.parametrize(
    "labels",
    [
        ("No", "Yes", "Unsure"),
        ("0", "1"),
        ("1", "2", "3", "99"),
        ("1", "2", "Unsure"),
        ("1", "1.0", "2"),
        ("104", "233", "871"),
        ("1", "2", "inf"),
    ],
)
def test_names_and_codes(labels):
    assert proposed_levels(labels) is None


def test_the_reason():
    proposal = proposed_levels(("1.0", "2.0", "3.0", "4.0", "5.0"))
    assert proposal.reason == (
        "labels are the numbers 1 to 5: ordinal or interval takes their order into account; as nominal, "
        "1 and 5 differ no more than 1 and 2"
    )


def summary(**changes):
    known = {
        "items": 20,
        "raters": 6,
        "annotations": 97,
        "categories": ("No", "Yes"),
        "label_counts": (46, 51),
    }
    return replace(make_result().data, **{**known, **changes})


LONG = DataSpec(item="item", rater="rater", label="toxic")


def test_which_labels_were_looked_at():
    said = labelled_sentence(LONG, summary())
    assert said == "label 'toxic': 97 annotations of 20 items by 6 raters (No: 46 · Yes: 51)"
    spec = replace(LONG, further=(Question("funny"),))
    said = labelled_sentence(spec, summary(categories=("toxic: No", "funny: No")))
    assert said.startswith(
        "labels 'toxic', 'funny': 97 annotations of 20 items by 6 raters (toxic: No: 46 · "
    )
    labels = tuple(f"l{n}" for n in range(40))
    said = labelled_sentence(LONG, summary(categories=labels, label_counts=tuple(range(40))))
    assert "(l28: 28 · l29: 29 · " in said
    assert said.endswith("l39: 39 and 28 more labels)")


@pytest.mark.parametrize(("layout", "columns"), [("items-by-raters", 6), ("raters-by-items", 20)])
def test_a_matrix(layout, columns):
    said = labelled_sentence(DataSpec(layout=layout), summary())
    assert said.startswith(f"labels in the cells of {columns} columns: 97 annotations")
