import json
from dataclasses import replace

import pytest

from grasp_core.model.data_spec import DataSpec, Question
from grasp_core.model.groups import Group, axis_label, group_label, group_labels
from grasp_core.model.result import RunResult
from grasp_core.model.statistic import TABLE
from grasp_core.model.text import WORD_JOINER, Segment, Sentence, escape_markdown, json_text, printable
from grasp_core.report.words import names
from grasp_core.report.words.label_use import labelled_sentence
from grasp_core.report.words.levels import proposed_levels
from grasp_core.report.words.printable import printable_result
from tests.report.hostile import TEXTS, hostile_result
from tests.results import make_group, make_outcome, make_result


@pytest.mark.parametrize(
    ("axes", "label"),
    [
        (("gender",), "gender"),
        (("rater_race", "rater_gender"), "race × gender"),
        (("rater_race", "gender"), "rater race × gender"),
        (("rater_",), "rater"),
        (("age_group",), "age group"),
        (("a\nb",), "a b"),
    ],
)
def test_axis_label(axes, label):
    assert axis_label(axes) == label


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.54, "0.540"), (-0.0724, "−0.072"), (-0.0001, "0.000"), (12.3456, "12.346"), (None, "not estimable")],
)
def test_format_value(value, text):
    assert names.format_value(value) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0144, "p = 0.014"),
        (0.001, "p = 0.001"),
        (0.000999, "p < 0.001"),
        (0.0, "p < 0.001"),
        (1.0, "p = 1.000"),
        (None, "p not tested"),
    ],
)
def test_format_p(p, text):
    assert names.format_p(p) == text


def test_q_has_its_name_and_zero_is_told_by_the_permutations():
    assert names.format_p(0.25, name="q") == "q = 0.250"
    assert names.format_p(0.0, name="q") == "q < 0.001"
    assert names.format_p_value(0.0, permutations=100) == "< 0.010"
    assert names.format_p_value(0.0, permutations=10_000) == "< 0.001"
    assert names.format_p_value(0.25, permutations=100) == "0.250"


def test_groups_are_named_apart_in_one_line():
    assert group_label(Group(("race", "gender"), ("Asian\n", ""))) == "Asian, (blank)"
    groups = [Group(("race",), ("Other",)), Group(("gender",), ("Other",)), Group(("gender",), ("Man",))]
    assert group_labels(groups) == ["Other (race)", "Other (gender)", "Man"]


def test_statistics_have_words_and_formulas():
    assert set(names.WORDS) == set(TABLE)
    for words in names.WORDS.values():
        assert words.explanation.endswith(".")
        assert words.name in words.axis
    result = make_result(gai=("negentropy", "cross_negentropy"))
    assert names.statistic_formula("gai", result) == "GAI = Negentropy / Cross-negentropy"
    assert names.statistic_formula("irr", result) == names.WORDS["irr"].formula
    outcome = names.outcome_of(make_group(gai=make_outcome(1.0, "up")), "irr")
    assert outcome.value is None
    assert str(outcome.reason) == "IRR was not part of this run"


def test_reported_statistics_follow_the_spec_in_table_5_order():
    result = make_result(statistics=("xrr", "irr"))
    assert names.reported_statistics(result) == ("irr", "xrr")
    assert names.lead_statistic(result) == "irr"
    assert names.lead_statistic(make_result()) == "gai"


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("Asian, Woman", r"Asian\, Woman"),
        ("<script>", r"\<script\>"),
        ("*bold* _it_ `code`", r"\*bold\* \_it\_ \`code\`"),
        ("[x](y)", r"\[x\]\(y\)"),
        ("$x$", r"\$x\$"),
        (":red[x]", rf"\:{WORD_JOINER}red\[x\]"),
        (":smile:", rf"\:{WORD_JOINER}smile\:"),
        ("www.evil.com", rf"www{WORD_JOINER}\.evil\.com"),
        ("a@b.com", rf"a\@{WORD_JOINER}b\.com"),
        ("back\\slash", r"back\\slash"),
        ("two\n\nlines", "two lines"),
        ("É, 日本 × β", r"É\, 日本 × β"),
    ],
)
def test_escape_markdown(text, escaped):
    assert escape_markdown(text) == escaped


def test_emphasis_is_apart_from_the_text():
    sentence = Sentence.of("Among them ", Segment("a*b", strong=True), ": 2.")
    assert sentence.plain == "Among them a*b: 2."
    assert sentence.markdown == r"Among them **a\*b**\: 2\."
    assert Sentence.of("a ", Segment("", strong=True), " b").markdown == "a  b"
    assert Sentence.of(" ", "b").markdown == " b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Asian, Woman", "Asian, Woman"),
        ("日本 🦒 ‏עברית", "日本 🦒 ‏עברית"),
        ("a\tb\r\nc\u2028d", "a b  c d"),
        ("a\u202eb", "a[U+202E]b"),
        ("a\x00b\x1b[0m", "a[U+0000]b[U+001B][0m"),
        ("a\ud800b\uffff", "a[U+D800]b[U+FFFF]"),
    ],
)
def test_unseen_characters_are_named(text, shown):
    assert printable(text) == shown
    assert printable(shown) == shown


def test_every_text_of_a_result_is_visible():
    hostile = hostile_result()
    plain = printable_result(hostile).to_dict()
    spec = plain.pop("spec")
    assert printable(str(plain)) == str(plain)
    assert not [escape for escape in ("\\x1b", "\\ud800", "\\u202e", "\\n") if escape in str(plain)]
    assert spec == hostile.spec.to_dict()
    result = make_result()
    assert printable_result(result) == result
    hostile = hostile_result()
    text = json_text(hostile.to_dict())
    assert printable(text.replace("\n", "")) == text.replace("\n", "")
    assert json.loads(text.encode("utf-8")) == hostile.to_dict()
    assert RunResult.from_dict(json.loads(text)) == hostile
    assert json.loads(json_text(list(TEXTS))) == list(TEXTS)


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
