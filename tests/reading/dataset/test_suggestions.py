from __future__ import annotations

import unicodedata

from grasp_core.reading.dataset.checks import merge_rare, one_spelling


def test_case_spaces_and_short_forms_get_one_spelling():
    counts = {"woman": 5, "Woman ": 2, "F": 1, "Man": 4, "nonbinary": 1}
    assert one_spelling(counts) == {"Woman ": "woman", "F": "woman"}


def test_unicode_forms_are_one_spelling():
    composed, decomposed = "café", unicodedata.normalize("NFD", "café")
    assert one_spelling({decomposed: 3, composed: 1}) == {decomposed: composed}


def test_a_lone_value_loses_its_spaces():
    assert one_spelling({" North  East": 3, "South": 1}) == {" North  East": "North East"}


def test_what_is_tidy_stays():
    assert one_spelling({"Yes": 3, "No": 2, "": 4, "Unsure": 1}) == {}


def test_rare_values_are_merged():
    counts = {"a": 9, "b": 1, "c": 2, "": 1}
    assert merge_rare(counts, 3) == {"b": "Other", "c": "Other"}
    assert merge_rare(counts, 2) == {}  # one value alone gains nothing by another name
    assert merge_rare({"a": 1, "b": 1}, 5) == {}
