"""The synthetic example: its shape, its bytes, and that what was planted is found."""

import hashlib
import io
from collections import Counter

import pandas as pd

from grasp_core.model.example import COHESIVE, INCOHESIVE, LABELS, example_files
from grasp_core.model.result import GroupResult, RunResult

FILES = example_files()

# DICES-350's raters by race and gender: Table 2 of Prabhakaran et al. (NAACL 2024).
TABLE_2 = {
    ("Asian", "Woman"): 9,
    ("Asian", "Man"): 12,
    ("Black", "Woman"): 16,
    ("Black", "Man"): 7,
    ("Latine", "Woman"): 12,
    ("Latine", "Man"): 10,
    ("Multiracial", "Woman"): 4,
    ("Multiracial", "Man"): 9,
    ("White", "Woman"): 16,
    ("White", "Man"): 9,
}


def frame(name: str) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(FILES[name]), dtype=str, keep_default_na=False)


def row(result: RunResult, group) -> GroupResult:
    (found,) = (row for row in result.groups if row.group == group)
    return found


def test_raters_are_those_of_table_2() -> None:
    raters = frame("raters.csv")
    assert Counter(zip(raters.rater_race, raters.rater_gender, strict=True)) == TABLE_2
    assert len(raters) == raters.rater_id.nunique() == 104


def test_every_rater_labels_every_item_once() -> None:
    annotations = frame("annotations.csv")
    assert annotations.item_id.nunique() == 350
    assert len(annotations) == 350 * 104
    assert not annotations.duplicated(["item_id", "rater_id"]).any()
    assert set(annotations.rater_id) == set(frame("raters.csv").rater_id)
    assert set(annotations.label) == set(LABELS)


def test_the_same_bytes_every_time() -> None:
    # SHA-256 of the files as written since version 0.2.0 with numpy 2.4. The numbers that the documentation
    # quotes are of these very files.
    assert {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()} == {
        "annotations.csv": "1528f310963b775371f2eb19cd816e628fb19e33836f1cb495f4bdd011a5db94",
        "raters.csv": "5d8a8dbb82be5de7badceb1ec48462600e9466d4bba0fd2d45a5a0cd092631f2",
    }
    assert example_files() == FILES
    assert example_files(seed=1) != FILES


def test_the_cohesive_group_is_found(example_result: RunResult) -> None:
    found = row(example_result, COHESIVE).statistics
    for name in ("irr", "gai"):
        assert found[name].significance == "corrected"
        assert found[name].direction == "up"
    assert found["gai"].value > 1


def test_the_cohesive_group_says_yes_more_often(example_result: RunResult) -> None:
    use = row(example_result, COHESIVE).label_use
    assert use.significance == "corrected"
    assert use.most in ("Yes", "No")  # what the one gains the other loses
    assert use.labels["No"].value < -0.05
    assert 0.05 < use.labels["Yes"].low < 0.13 < use.labels["Yes"].value < use.labels["Yes"].high
    assert row(example_result, COHESIVE).statistics["distance"].significance == "corrected"


def test_nobody_else_is_found_by_label_use(example_result: RunResult) -> None:
    found = [one.group for one in example_result.groups if one.label_use.significance == "corrected"]
    assert found == [COHESIVE]


def test_the_incohesive_group_is_found(example_result: RunResult) -> None:
    found = row(example_result, INCOHESIVE).statistics
    for name in ("irr", "xrr", "gai"):
        assert found[name].significance == "corrected"
        assert found[name].direction == "down"
    assert found["gai"].value < 1


def test_no_intersection_without_an_effect_survives_correction(example_result: RunResult) -> None:
    for entry in example_result.groups:
        if len(entry.group.axes) == 2 and entry.group not in (COHESIVE, INCOHESIVE):
            assert entry.verdict.code in ("none", "hint")
            # Each statistic is corrected by itself, so of all nine one may be marked by chance.
            marked = [name for name, one in entry.statistics.items() if one.significance == "corrected"]
            assert set(marked) <= {"voting_agreement"}


def test_dsi_names_the_cohesive_group(example_result: RunResult) -> None:
    (found,) = (entry for entry in example_result.dsi if len(entry.axes) == 2)
    assert found.group == COHESIVE
    assert found.outcome.p < 0.05
    (age,) = (entry for entry in example_result.dsi if entry.axes == ("rater_age",))
    assert age.outcome.p > 0.05
