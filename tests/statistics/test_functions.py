"""``grasp.statistics``: statistics of labels and of counts, against other software and definitions."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest

import grasp_core as grasp
from grasp_core.model.errors import SpecError

RNG = np.random.default_rng(5)
LABELS = RNG.integers(1, 5, (6, 40)).astype(float)
LABELS[RNG.random(LABELS.shape) < 0.3] = np.nan
OTHERS = RNG.integers(1, 5, (4, 40)).astype(float)
GIVEN = range(1, 5)
COUNTS, MORE = (np.stack([(one == label).sum(axis=0) for label in GIVEN], axis=1) for one in (LABELS, OTHERS))
TWO = ("xrr", "gai", "gap", "cross_negentropy", "voting_agreement", "distance")


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_is_that_of_other_software(level) -> None:
    found = grasp.statistics.krippendorff_alpha(LABELS, level=level)
    assert found == pytest.approx(krippendorff.alpha(LABELS, level_of_measurement=level), abs=1e-12)


@pytest.mark.parametrize("name", TWO)
def test_labels_and_counts_give_the_same(name: str) -> None:
    function = getattr(grasp.statistics, name)
    of_labels = function(LABELS, OTHERS)
    assert np.isfinite(of_labels)
    assert function(COUNTS, MORE, counts=True) == of_labels


@pytest.mark.parametrize(
    "name",
    [
        *("negentropy", "plurality_size", "krippendorff_alpha"),
        *("percent_agreement", "fleiss_kappa", "gwet_ac1"),
    ],
)
def test_labels_and_counts_of_one_side_give_the_same(name: str) -> None:
    function = getattr(grasp.statistics, name)
    assert function(COUNTS, counts=True) == function(LABELS)


def test_a_result_has_the_same_values() -> None:
    annotations, raters = grasp.load_example()
    result = grasp.analyse(annotations, raters, axes=["rater_gender"], permutations=100, progress=False)
    wide = annotations.pivot(index="rater_id", columns="item_id", values="label")
    women = raters.loc[raters["rater_gender"] == "Woman", "rater_id"]
    of_women, of_men = wide.loc[women], wide.drop(women)
    row = result.tidy().query("rater_gender == 'Woman'").set_index("statistic")["value"]
    categories = result.result.data.categories
    for name in ("xrr", "gai", "gap", "cross_negentropy", "distance"):
        function = getattr(grasp.statistics, name)
        assert row[name] == pytest.approx(function(of_women, of_men, categories=categories), abs=1e-12)
    shares = grasp.statistics.label_shares(of_women, of_men, categories=categories)
    told = result.tidy().query("rater_gender == 'Woman' and statistic == 'label_use'").dropna(subset="label")
    np.testing.assert_allclose(told["value"], shares, atol=1e-12)


def test_without_a_value_it_is_nan() -> None:
    assert np.isnan(grasp.statistics.krippendorff_alpha([["a", "b"]]))
    assert np.isnan(grasp.statistics.label_shares([["a", None]], [[None, "a"]])).all()


@pytest.mark.parametrize(
    ("arrays", "options", "sentence"),
    [
        (([1, 2, 3],), {}, "labels are an array of two axes, raters by items"),
        (([[0.5, 1]],), {"counts": True}, "whole numbers from 0"),
        (([["a"]], [["a", "b"]]), {}, "both sides have the same items"),
        (([["a", "b"]],), {"categories": ["a"]}, "which is none of the categories"),
        (([["a", "b"], ["a", "a"]],), {"level": "interval"}, "takes labels that are numbers"),
        (([[None, None]],), {}, "there is no label"),
    ],
)
def test_bad_input_is_refused_in_words(arrays, options, sentence) -> None:
    function = grasp.statistics.krippendorff_alpha if len(arrays) == 1 else grasp.statistics.xrr
    with pytest.raises(SpecError, match=sentence):
        function(*arrays, **options)


def test_two_raters_agree_beyond_chance_as_in_cohen() -> None:
    """Cohen (1960) divides by hand: 20 and 15 of 50 alike, shares .5 and .6 of the first label."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert grasp.statistics.cohen_kappa(first, second) == pytest.approx(0.4)
    assert grasp.statistics.cohen_kappa([*first, None], [*second, "yes"]) == pytest.approx(0.4)
    with pytest.raises(SpecError, match="both raters have the same items"):
        grasp.statistics.cohen_kappa(first, second[1:])
