"""Several questions: each is judged by its own labels, and the order of their names changes nothing."""

from collections.abc import Sequence

import pandas as pd
import pytest

from grasp_core.engine.reading_request import AdviceAnswer, InputTables, reading_of
from grasp_core.model.data_spec import DataSpec, Filters, MapValues, Question
from grasp_core.notebook.data import frame_table
from grasp_core.notebook.options import Python
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.recognise import recognise

BOTH = [("q1", "q2"), ("q2", "q1")]
ITEMS, RATERS = 12, 6
SCALE = "12345"


def answers(first: Sequence[str], second: Sequence[str]) -> pd.DataFrame:
    """Each rater's labels of each item, in turn; both questions have the same rows."""
    cells = [(item, rater) for item in range(ITEMS) for rater in range(RATERS)]
    return pd.DataFrame(
        {
            "item": [f"i{item}" for item, _ in cells],
            "rater": [f"r{rater}" for _, rater in cells],
            "q1": [first[n % len(first)] for n in range(len(cells))],
            "q2": [second[n % len(second)] for n in range(len(cells))],
            "team": ["AB"[rater % 2] for _, rater in cells],
        }
    )


def read(
    frame: pd.DataFrame, order: Sequence[str], *, recommended: bool | None = None, **more: object
) -> tuple[DataSpec, list[str], dict[str, tuple[str, ...]]]:
    """The spec as Python and the command read it, the notes, and the labels of each question."""
    first, *others = order
    fields = {"item": "item", "rater": "rater", "label": first, "filters": Filters(), "missing": ("",)}
    fields |= {"recode": (), "further": tuple(map(Question, others)), **more}
    frontend = Python()
    answer = AdviceAnswer(recommended=recommended)
    found = reading_of(InputTables(frame_table(frame, "votes")), fields, frontend, answer)
    labels = [one.categories for one in load(found.annotations, None, found.spec, found.axes).questions]
    return found.spec, frontend.notes, dict(zip(found.spec.labels, labels, strict=True))


def both_orders(frame: pd.DataFrame, **more: object) -> tuple[str, dict[str, tuple[str, ...]]]:
    """What is told, and the labels: the same for either order of the questions."""
    (_, notes, labels), (_, others, same) = (read(frame, order, **more) for order in BOTH)
    assert notes == others
    assert labels == same
    return "\n".join(notes), labels


@pytest.mark.parametrize("first", [("no", "yes"), ("1", "2"), ("0", "0|1", "1|0", "1")])
def test_sets_have_no_order_in_any_question(first: Sequence[str]) -> None:
    told, labels = both_orders(answers(first, ("a", "a|b", "b|a", "b")))
    assert labels["q2"] == ("a", "a|b", "b")
    assert "'q2': the same choices in another order are one label: 'b|a = a|b'" in told


def test_one_number_is_one_label_in_its_own_question() -> None:
    told, labels = both_orders(answers(("1.0", "2.0"), ("1", "1.0", "2")))
    assert labels == {"q1": ("1.0", "2.0"), "q2": ("1", "2")}
    assert "'q2': one number written in two ways is one label" in told


@pytest.mark.parametrize("first", [("no", "yes"), ("1", "2", "3")])
def test_words_for_no_value_are_no_labels_of_any_question(first: Sequence[str]) -> None:
    told, labels = both_orders(answers(first, (*SCALE, "NA")))
    assert labels["q2"] == tuple(SCALE)
    assert "'q2': 'NA' in 12 cells are no label: the others are numbers" in told


def test_a_word_that_another_question_has_as_a_label_is_asked_about() -> None:
    frame = answers((*SCALE, "None"), ("None", "Some", "All"))
    told, labels = both_orders(frame)
    assert "None" in labels["q1"]
    assert "None" in labels["q2"]
    assert "in 'q1' it is written as for no value" in told
    assert "in 'q2' it is a label like the others (recoding can take it out of 'q1' alone)" in told
    assert "kept as a label: 36 cells with 'None'" in told
    _, kept = both_orders(frame, recommended=True)
    assert kept == labels
    _, left = both_orders(frame, missing=("", "None"))
    assert left == {"q1": tuple(SCALE), "q2": ("All", "Some")}


def test_one_that_no_question_answers_with_is_none_in_a_question_of_nothing_else() -> None:
    table = frame_table(answers((*SCALE, "NA"), ("NA", "")), "votes")
    guess = recognise(table, further=("q2",))
    assert "NA" in guess.spec.missing


@pytest.mark.parametrize("first", [("no", "yes"), ("1", "2", "3")])
def test_codes_of_surveys_are_told_of_any_question(first: Sequence[str]) -> None:
    frame = answers(first, (*SCALE, "99", "-9"))
    told, labels = both_orders(frame)
    assert {"99", "-9"} < {*labels["q2"]}
    assert "with '99': in 'q2' it lies apart from the other numbers" in told
    assert "recommended to be left out" in told
    _, left = both_orders(frame, recommended=True)
    assert left["q2"] == tuple(SCALE)


def test_a_code_that_is_an_answer_to_another_question_is_not_recommended() -> None:
    slider = tuple(map(str, range(0, 101, 3)))
    frame = answers(slider, (*SCALE, "99"))
    told, labels = both_orders(frame)
    assert "99" in labels["q1"]
    assert "in 'q1' it is a label like the others (recoding can take it out of 'q2' alone)" in told
    assert "kept as a label" in told
    told, left = both_orders(frame, recommended=True)
    assert left == labels
    assert "kept as a label: 14 cells with '99'" in told
    _, alone = both_orders(frame, recode=(MapValues("q2", (("99", ""),)),))
    assert "99" in alone["q1"]
    assert alone["q2"] == tuple(SCALE)


@pytest.mark.parametrize(
    ("first", "column", "to", "still"),
    [
        (SCALE, "q2", "", False),
        (SCALE, "q2", "5", False),
        (SCALE, None, "", False),
        (SCALE, "q1", "", True),
        (("1", "2", "99"), "q2", "", True),  # the other question has such a code, too
        (("1", "2", "99"), None, "", False),
    ],
)
def test_a_text_that_is_recoded_is_not_asked_about(first, column, to, still) -> None:
    frame = answers(first, (*SCALE, "99"))
    step = MapValues(column, (("99", to),))
    for recommended in (None, True):
        told, labels = both_orders(frame, recode=(step,), recommended=recommended)
        assert ("cells with '99'" in told) is still
    assert still or "99" not in {*labels["q1"], *labels["q2"]}


@pytest.mark.parametrize("column", ["q2", None])
def test_nor_is_one_of_the_only_question(column: str | None) -> None:
    step = MapValues(column, (("99", ""),))
    told, labels = read(answers(("no", "yes"), (*SCALE, "99")), ("q2",), recode=(step,))[1:]
    assert not any("99" in note for note in told)
    assert labels["q2"] == tuple(SCALE)


def test_a_number_beside_a_scale_is_asked_about_in_any_question() -> None:
    told, _ = both_orders(answers(("no", "yes"), (*SCALE, "0")))
    assert "with '0': in 'q2' it may be a label, or stand for no answer" in told


def test_an_answer_about_a_text_holds_for_all_questions() -> None:
    told, _ = both_orders(answers((*SCALE, "99"), ("1", "2", "3", "99")))
    assert "30 cells with '99': in 'q1', 'q2' it lies apart" in told


def test_spellings_are_told_of_their_own_question() -> None:
    frame = answers(("yes", "no"), ("Yes", "No", "yes", "No", "Yes"))
    told, labels = both_orders(frame)
    assert labels["q2"] == ("No", "Yes", "yes")
    assert "with 'yes' in 'q2': like 'Yes' but for case or blanks" in told
    _, merged = both_orders(frame, recommended=True)
    assert merged == {"q1": ("no", "yes"), "q2": ("No", "Yes")}


def typed(ordered: bool = True) -> pd.DataFrame:
    frame = answers(("no", "yes"), ("low", "high"))
    values = ["low", "medium", "high", "no answer"]
    return frame.assign(q2=pd.Categorical(frame["q2"], values, ordered=ordered))


def test_labels_that_a_type_names_are_labels_of_their_own_question() -> None:
    told, labels = both_orders(typed())
    assert labels == {"q1": ("no", "yes"), "q2": ("low", "medium", "high", "no answer")}
    assert "'q2': 'low' < 'medium' < 'high' < 'no answer', as its type has them" in told
    _, left = both_orders(typed(), missing=("", "no answer"))
    assert left["q2"] == ("low", "medium", "high")


def test_sets_of_one_question_leave_the_type_of_another() -> None:
    _, labels = both_orders(typed().assign(q1=answers(("a", "a|b", "b|a", "b"), ("x",))["q1"]))
    assert labels["q1"] == ("a", "a|b", "b")
    assert labels["q2"] == ("low", "medium", "high", "no answer")


def test_text_taken_for_no_answer_leaves_the_labels_of_a_type() -> None:
    frame = answers(("no", "yes"), ("low", "high", "no answer"))
    frame["q2"] = pd.Categorical(frame["q2"], ["low", "medium", "high", "no answer"], ordered=True)
    _, left = both_orders(frame, recommended=True)
    assert left["q2"] == ("low", "medium", "high")


@pytest.mark.parametrize("order", BOTH)
def test_labels_that_somebody_names_are_theirs(order: Sequence[str]) -> None:
    first, *others = order
    named = {"q1": ("yes", "no"), "q2": (*SCALE, "99")}
    further = tuple(Question(name, named[name]) for name in others)
    frame = answers(("no", "yes"), (*SCALE, "99"))
    _, notes, labels = read(frame, order, categories=named[first], further=further)
    assert labels == named
    assert not any("99" in note for note in notes)
