"""Problems with the data: those that stop, together, and those to know about."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grasp_core.model.data_spec import DataSpec, Filters
from grasp_core.model.errors import DataError, Problem
from grasp_core.model.remarks.remark import said
from grasp_core.reading.dataset.checks import missing_columns
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.table.columns import near_duplicates
from grasp_core.reading.table.table import Table
from tests.reading.making import LONG, rows_table, text_table

GOOD = "item rater label g/a r1 Yes x/a r2 No y/b r1 Yes x/b r2 No y"
ROW = ["item", "rater", "label"]


def stops(
    table: Table, raters: Table | None = None, spec: DataSpec = LONG, axes: Sequence[str] | None = None
) -> tuple[Problem, ...]:
    with pytest.raises(DataError) as caught:
        load(table, raters, spec, axes)
    problems = caught.value.problems
    assert all(problem.stops for problem in problems)
    assert all("\n" not in problem.message for problem in problems)
    assert str(caught.value).startswith(problems[0].message)
    return problems


def stop(*args: object, **options: object) -> str:
    (problem,) = stops(*args, **options)
    return problem.message


def one_stop(
    said: str, text: str, raters: str | None = None, axes: Sequence[str] | None = None, spec: DataSpec = LONG
) -> Problem:
    """The one problem of these files, whose message has this in it."""
    beside = None if raters is None else text_table(raters, "raters.csv")
    (problem,) = stops(text_table(text), beside, spec, axes)
    assert re.search(said, problem.message), problem.message
    return problem


def known(
    table: Table | str, raters: Table | None = None, spec: DataSpec = LONG, axes: Sequence[str] | None = None
) -> list[str]:
    table = text_table(table) if isinstance(table, str) else table
    problems = load(table, raters, spec, axes).problems
    assert not any(problem.stops for problem in problems)
    return [problem.message for problem in problems]


def only(messages: list[str], part: str) -> str:
    (found,) = [message for message in messages if part in message]
    return found


def test_good_data_raise_no_doubts_and_columns_left_out_are_reported():
    assert known(GOOD) == []
    rows = GOOD.replace("Yes", "None").replace("No ", "none ")
    assert known(rows, None, replace(LONG, categories=("None", "none"))) == []
    data = load(text_table(GOOD), text_table("rater age/r1 20/r2 30/t 40", "raters.csv"), LONG, ["age"])
    (problem,) = data.problems
    assert (problem.examples, problem.further_examples) == (("t",), ("t",))
    note = Problem(False, said("a column was left out"))
    assert load(replace(text_table(GOOD), problems=(note,)), None, LONG).problems == (note,)


def test_columns_that_do_not_exist():
    spec = DataSpec(item="Item", rater="rater", label="lable", exclude=(("removed", "yes"),))
    problems = stops(text_table(GOOD), None, spec, ["h"])
    messages = [problem.message for problem in problems]
    assert len(messages) == 4
    assert "votes.csv has no column 'Item'; did you mean 'item'" in messages[0]
    assert "'lable'; did you mean 'label'" in messages[1]
    assert "'h'" in messages[2]
    assert "'item', 'rater', 'label', 'g'" in messages[2]
    assert "'removed'" in messages[3]
    with pytest.raises(DataError, match=r"\(and 3 more problems\)$"):
        load(text_table(GOOD), None, spec, ["h"])


RATERS = "rater age/r1 1/r2 2"
YES_NO = ("Yes", "No")
BY_ITEM = DataSpec(layout="items-by-raters", item="item")
BY_RATER = DataSpec(layout="raters-by-items", rater="rater")
TWICE = "rater age city/r1 20 A/r2 30 B/r1 25 A"
BLANK = "item rater label/a r1 Yes/a r2 No/b '' ''/b r1 No"
ONE_RATER = "item rater label/a r1 Yes/b r1 No"


def test_axes_and_columns_that_cannot_be():
    one_stop("neither votes.csv nor raters.csv.*'age'", GOOD, RATERS, ["Aeg"])
    one_stop("column 'label' holds ids or labels", GOOD, axes=["label"])
    one_stop("column 'item' holds ids or labels", GOOD, axes=["item"])
    one_stop("column 'rater' of raters.csv holds the rater ids", GOOD, RATERS, ["rater"])
    one_stop("profile column", "rater q1 q2/r1 a b/r2 b a", axes=["q2"], spec=BY_RATER)
    one_stop("'label' is named for two", GOOD, spec=replace(LONG, item="label"))
    one_stop("no item column", "rater g h/r1 a b", spec=replace(BY_RATER, profile=("g", "h")))


def test_labels_that_contradict_or_are_none():
    said = "rater 'r1'.*item 'a'.*'Yes' in row 2 and 'No' in row 6.*1 more case"
    one_stop(said, GOOD + "/a r1 No x/b r2 Yes y")
    one_stop("rater 'r2'.*'No' in row 2 and 'Yes' in row 3", "item r1 r2/a Yes No/a Yes Yes", spec=BY_ITEM)
    declared = replace(BY_ITEM, categories=YES_NO)
    one_stop("row 3, column 'r2'", "item r1 r2/a Yes No/b No Si", spec=declared)
    said = "votes.csv, row 6, column 'label': 'Maybe'.*'Yes', 'No'"
    problem = one_stop(said, GOOD + "/c r1 Maybe x/c r2 maybe y", spec=replace(LONG, categories=YES_NO))
    assert (problem.count, problem.examples) == (2, ("Maybe", "maybe"))
    one_stop("votes.csv has no annotation left", GOOD, spec=replace(LONG, missing=("Yes", "No")))


def test_raters_who_are_two_or_none():
    said = "votes.csv, rows 2 and 6, column 'g': rater 'r1' has 'x' and 'y'"
    problem = one_stop(said, GOOD + "/c r1 Yes y/c r2 No x", axes=["g"])
    assert (problem.count, problem.examples) == (2, ("r1", "r2"))
    excluded = replace(LONG, exclude=(("g", "y"),))
    one_stop("rows 2 and 6, column 'g'", GOOD + "/c r1 Yes y", axes=[], spec=excluded)
    for key in ("rater", "person"):
        one_stop("'r1', 'r2'.*raters.csv.*'x1'", GOOD, f"{key} age/x1 20/x2 30")
    one_stop("raters.csv, row 3, column 'rater'", GOOD, "rater age/r1 1/'' 2/r2 2")
    one_stop("raters.csv, rows 2 and 4, column 'age': rater 'r1' has '20' and '25'", GOOD, TWICE, ["age"])
    everybody = replace(LONG, exclude=(("g", "x"), ("g", "y")))
    one_stop("all 2 raters.*'g' = 'y'", GOOD, spec=everybody)
    one_stop("--drop rater=", BLANK + "/b '' No")


@pytest.mark.parametrize("blank", ["", "  "])
def test_blank_ids(blank):
    rows = [["item", "rater", "label"], ["a", "r1", "Yes"], [blank, "r1", "No"], [blank, blank, "No"]]
    item, rater = stops(rows_table(rows))
    assert "votes.csv, row 3, column 'item'" in item.message
    assert "and in 1 more row" in item.message
    assert item.count == 2
    assert "row 4, column 'rater'" in rater.message


def test_blank_ids_without_a_label_and_differences_that_are_not_used_stop_nothing():
    assert load(text_table(BLANK), None, LONG).summary.annotations == 3
    left_out = replace(LONG, filters=Filters(drop=(("rater", ""),)))
    summary = load(text_table(BLANK + "/b '' No"), None, left_out).summary
    assert summary.annotations == 3
    assert [one.count for one in summary.account.left_out] == [1, 1]
    messages = known(GOOD, text_table(TWICE, "raters.csv"), axes=["city"])
    assert "more than one row" in only(messages, "raters.csv")


def test_columns_that_hold_no_labels():
    rows = [ROW, *([str(n), "r", f"text {n}"] for n in range(257))]
    message = stop(rows_table(rows))
    assert "257 distinct values in column 'label' of votes.csv: is this the label column?" in message
    load(rows_table(rows[:-1]), None, LONG)
    rows = [ROW, *([str(n), "r", str(n)] for n in range(300)), ["301", "r", "k.A."]]
    assert "as of a slider: cut them into ranges" in stop(rows_table(rows))
    rows = [["item", "text", "r1", "r2"], *([str(n), f"text {n}", "Yes", "No"] for n in range(300))]
    message = stop(rows_table(rows), None, BY_ITEM)
    assert "302 distinct labels in votes.csv, most of them in column 'text'" in message


def test_everything_that_stops_is_collected():
    table = text_table("item rater label g/a r1 Yes x/a r1 No y/'' r2 Maybe x")
    problems = stops(table, None, replace(LONG, categories=YES_NO), ["g"])
    parts = ("id is blank", "'Maybe' is not one of", "labels 'Yes' in row 2", "rater 'r1' has 'x' and 'y'")
    for problem, part in zip(problems, parts, strict=True):
        assert part in problem.message


def test_repeated_annotations_count_once_and_missing_labels_are_counted():
    data = load(text_table(GOOD + "/a r1 Yes x/a r1 Yes x/b r2 No y"), None, LONG)
    (problem,) = data.problems
    assert data.annotations.n_annotations == 4
    assert problem.count == 3
    assert problem.examples == ("row 6", "row 7", "row 8")
    assert problem.further_examples == ("row 7", "row 8")  # the sentence names row 6
    assert "3 annotations of votes.csv repeat an earlier one" in problem.message
    messages = known("item rater label/a r1 Yes/a r2 ''/a r3 No/b r2 ''")
    assert "row 3, column 'label': the label is missing in 2 rows" in only(messages, "missing")
    assert only(messages, "1 item of votes.csv has no annotation")
    assert only(messages, "1 rater of votes.csv has no annotation")


@pytest.mark.parametrize("token", ["NA", "N/A", "nan", "NaN", "None", "null", "-", "?", " "])
@pytest.mark.parametrize("column", ["label", "g"])
def test_texts_that_look_missing(token, column):
    rows = [line.split() for line in GOOD.split("/")]
    for row in (2, 4):
        rows[row][rows[0].index(column)] = token
    message = only(known(rows_table(rows)), "if it means no value")
    assert f"votes.csv, column '{column}': 2 cells hold '{token}', treated as a value" in message
    spec = replace(LONG, missing=("", token))
    assert not any("if it means no value" in message for message in known(rows_table(rows), None, spec))


def test_texts_and_ids_that_differ_by_spaces_or_case():
    rows = [["a", "r1", "Yes", "Woman"], ["b", "r1", "No", "Woman"], ["a", "r2", "yes", "woman "]]
    table = rows_table([[*ROW, "g"], *rows, ["a", "r3", "No", "Man"]])
    messages = known(table, axes=["g"])
    assert "'Yes' (1 cell) and 'yes' (1 cell)" in only(messages, "column 'label'")
    assert "'woman ' (1 cell) differ only by spaces or case" in only(messages, "column 'g'")
    assert load(table, None, LONG, ["g"]).raters.axes["g"].values == ("Man", "Woman", "woman ")
    rows = [ROW, ["a", "r1", "Yes"], ["a ", "r1", "No"], ["A", "r1 ", "No"]]
    problems = load(rows_table(rows), None, LONG).problems
    items, raters = (problem for problem in problems if "surrounding spaces" in problem.message)
    assert "votes.csv, column 'item': 1 id is there in several spellings" in items.message
    assert items.examples == ("'a' (1 cell) and 'a ' (1 cell) and 'A' (1 cell)",)
    assert "column 'rater'" in raters.message
    assert raters.examples == ("'r1' (2 cells) and 'r1 ' (1 cell)",)
    matrix = rows_table([["item", "r1", "r1 "], ["a", "Yes", "No"]])
    assert only(known(matrix, None, BY_ITEM), "votes.csv, row 1: 1 id is there in several spellings")


@pytest.mark.parametrize(("odd", "n", "warned"), [("Yess", 1, True), ("Yess", 9, False), ("Maybe", 1, False)])
def test_a_rare_label_like_a_common_one_may_be_misspelt(odd: str, n: int, warned: bool) -> None:
    labels = [odd] * n + ["Yes", "No"] * 500
    rows = [["item", "rater", "label"], *([f"i{i}", "r1", label] for i, label in enumerate(labels))]
    told = [text for text in known(rows_table(rows)) if "looks like" in text]
    assert bool(told) == warned
    assert not warned or "'Yess' (1 cell) looks like 'Yes'" in told[0]
    declared = replace(LONG, categories=(odd, "Yes", "No"))
    assert not [text for text in known(rows_table(rows), spec=declared) if "looks like" in text]


def test_sentences_to_know_about_name_no_rater():
    rows = [["a", "r-one", "Yes", "x"], ["a", "r-one", "Yes", "x"], ["a", "r-one ", "no", ""]]
    rows += [["a", "r-two", "No", "y"], ["b", "r-three", "", "x"]]
    raters = rows_table([["rater", "g"], ["r-one", "y"], ["r-nine", "x"], [" r-two", "x"]], "raters.csv")
    messages = known(rows_table([[*ROW, "g"], *rows]), raters, axes=["g"])
    assert len(messages) > 8
    assert not any("r-" in message for message in messages)


def test_ids_and_values_that_differ_by_their_unicode_form_are_told():
    composed, decomposed = (unicodedata.normalize(form, "Zoé") for form in ("NFC", "NFD"))
    messages = known(rows_table([ROW, ["a", composed, "Yes"], ["b", decomposed, "No"], ["b", "r", "Yes"]]))
    assert "Unicode form of their letters" in only(messages, "'rater': 1 id is there")
    assert not any(composed in message for message in messages)
    counts = {composed: 2, decomposed.upper() + " ": 1, "Zoe": 5}
    (problem,) = near_duplicates("votes.csv, column 'label'", counts, ids=False)
    assert "or by the Unicode form of their letters, and are treated as different" in problem.message
    assert problem.count == 1
    (plain,) = near_duplicates("x", {"a": 1, "a ": 1}, ids=False)
    assert "Unicode" not in plain.message


def test_raters_without_demographics_and_demographics_without_annotations():
    raters = text_table("rater age/r1 1/r7 2/r8 2/r9 3", "raters.csv")
    data = load(text_table(GOOD), raters, LONG, ["age"])
    messages = [problem.message for problem in data.problems]
    assert "1 rater with annotations is not in column 'rater' of" in only(messages, "with annotations")
    assert "3 raters in raters.csv have no annotations" in only(messages, "have no annotations")
    assert "1 rater of 2 is unknown on axis 'age'" in only(messages, "unknown on axis")
    assert data.raters.axes["age"].codes.tolist() == [0, -1]
    assert next(problem.examples for problem in data.problems if problem.count == 3) == ("r7", "r8", "r9")


def test_one_thing_to_know():
    def tells(about: str, more: str, text: str, axes: Sequence[str] | None = None, spec: DataSpec = LONG):
        message = only(known(text, None, spec, axes), about)
        assert re.search(more, message), message

    constant = GOOD.replace(" y", " x")
    tells("axis 'g'", "only 'x'.*complement", constant, ["g"])
    tells("axis 'g'", "no value", constant, ["g"], replace(LONG, missing=("x",)))
    tells("every annotation is 'Yes'", "no agreement can be estimated", GOOD.replace("No", "Yes"))
    tells("one item", "", "item rater label/a r1 Yes/a r2 No")
    tells("one rater", "", ONE_RATER)
    tells("no item of votes.csv has labels of two raters", "", ONE_RATER)
    tells("excluded", "'g' = 'z'.*'x', 'y'", GOOD, spec=replace(LONG, exclude=(("g", "z"),)))


WORDS = st.sampled_from(["", " ", "a", "a ", "b", "NA", "1", "2", "Yes", "no"])
IDS = st.integers(1, 40).map(str)
COLUMNS = ["item", "rater", "label", "a", "b"]
NAMES = st.sampled_from([*COLUMNS, "other"])


def usually(likely: st.SearchStrategy[str], otherwise: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.integers(0, 19).flatmap(lambda number: otherwise if number == 19 else likely)


@st.composite
def tables_and_specs(draw: st.DrawFn) -> tuple[Table, Table | None, DataSpec, list[str] | None]:
    """Small tables of few words, read in sensible and in senseless ways."""
    width = draw(st.integers(3, 5))
    row = st.tuples(usually(IDS, WORDS), usually(IDS, WORDS), *[WORDS] * (width - 2))
    body = draw(st.lists(row, min_size=1, max_size=6))
    annotations = rows_table([COLUMNS[:width], *body])
    raters = None
    if draw(st.booleans()):
        header = draw(st.permutations(["a", "b", "rater"]))[:2]
        rows = draw(st.lists(st.tuples(usually(IDS, WORDS), WORDS), min_size=1, max_size=4))
        raters = rows_table([header, *rows], "raters.csv")
    spec = DataSpec(
        layout=draw(st.sampled_from(["long", "long", "items-by-raters", "raters-by-items"])),
        item=draw(usually(st.just("item"), NAMES)),
        rater=draw(usually(st.just("rater"), NAMES)),
        label=draw(usually(st.just("label"), NAMES)),
        profile=tuple(draw(st.lists(NAMES, max_size=2))),
        categories=draw(st.sampled_from([None, None, ("Yes", "no"), (*"ab12", "Yes", "no", "NA")])),
        missing=("", *draw(st.lists(WORDS, max_size=2))),
        exclude=tuple(draw(st.lists(st.tuples(st.sampled_from("ab"), WORDS), max_size=1))),
    )
    return annotations, raters, spec, draw(st.none() | st.lists(st.sampled_from("ab"), max_size=2))


@settings(max_examples=5 * settings().max_examples)
@given(tables_and_specs())
def test_any_table_loads_or_is_refused(case):
    annotations, raters, spec, axes = case
    try:
        data = load(annotations, raters, spec, axes)
    except DataError as error:
        loaded = [problem.stops for problem in error.problems]
    else:
        loaded = [not problem.stops for problem in data.problems]
        assert data.summary.annotations == data.annotations.n_annotations > 0
        assert data.annotations.rater_ids == data.raters.rater_ids
        assert (np.diff(data.annotations.indptr) > 0).all()
        assert np.unique(data.annotations.rater).size == data.summary.raters
    assert all(loaded)
    if len(annotations.columns) > 2:
        guess = recognise(annotations, raters)
        assert missing_columns(annotations, raters, guess.spec, guess.axes) == []
