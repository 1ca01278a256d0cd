from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ButtonGroup

from grasp_core.model.data_spec import Bins
from pages._ui.helpers.state import KEPT_RATERS, VisitorSession
from tests.labels import CONTINUE, ITEM_COLUMN, LABEL_COLUMN, RATER_COLUMN, UNDERSTOOD
from tests.pages.visits import (
    bring,
    cut,
    drop,
    everything,
    figures,
    labels,
    open_example,
    plain,
    press,
    seen,
    shown_run,
    widget,
)
from tests.reading.making import csv_bytes
from tests.zips import zipped


def one_about(page: AppTest, column: str) -> Any:
    """The question of leaving out what a column marks."""
    return next(
        one for one in page.button_group if (one.key or "").startswith("advice-") and f"-{column}-" in one.key
    )


def test_files_are_recognised_with_reasons_and_told_as_they_were_understood(page, example) -> None:
    open_example(page, example)
    assert widget(page.selectbox, ITEM_COLUMN).value == "item_id"
    assert widget(page.selectbox, RATER_COLUMN).value == "rater_id"
    assert widget(page.selectbox, LABEL_COLUMN).value == "label"
    assert widget(page.multiselect, "Labels, in order").value == ["No", "Unsure", "Yes"]
    assert widget(page.multiselect, "Cell texts that mean “no value”").value == [""]
    asked = [plain(widget(page.selectbox, name).help) for name in (ITEM_COLUMN, RATER_COLUMN, LABEL_COLUMN)]
    assert all(said.startswith(("Recognised: ", "Guessed: ")) for said in asked)
    assert figures(page) == ["35", "104", "3,640", "104"]
    crossed = next(frame.value for frame in page.dataframe if "Total" in frame.value.index)
    assert crossed.loc["Total", "Total"] == 104
    assert crossed.loc["Black", "Woman"] == 16


def test_a_bad_file_gets_its_sentence_and_the_good_one_stays(page, example) -> None:
    open_example(page, example)
    drop(page, "broken.xlsx", b"PK\x03\x04 and so on")
    assert "broken.xlsx" in seen(page.error)
    assert "annotations.csv is still in use" in seen(page.error)
    assert figures(page) == ["35", "104", "3,640", "104"]
    drop(page, "annotations.csv", example["annotations.csv"])
    assert not page.error


def test_problems_that_stop_are_listed(page: AppTest, example: dict[str, bytes]) -> None:
    open_example(page, example)
    widget(page.selectbox, LABEL_COLUMN).set_value("item_id").run()
    assert "Decide first" in seen(page.header)
    assert "named for two" in seen(page.error)
    assert not page.metric
    page.switch_page("analysis.py").run()
    assert "still to be decided" in seen(page.info)


def test_a_label_that_is_not_declared_stops_and_oddities_are_listed_apart(
    page: AppTest, example: dict[str, bytes]
) -> None:
    open_example(page, example)
    widget(page.multiselect, "Labels, in order").set_value(["No", "Yes"]).run()
    assert "'Unsure' is not one of the declared categories" in seen(page.error)
    widget(page.multiselect, "Cell texts that mean “no value”").set_value(["", "Unsure"]).run()
    assert not page.error
    assert int(page.metric[2].value.replace(",", "")) < 3640
    bring(page, "annotations.csv", example["annotations.csv"].replace(b",Unsure", b",N/A", 1))
    assert "looks" in seen(page.warning) or "N/A" in seen(page.warning)
    assert figures(page)[2] == "3,640"


def test_labels_that_case_tells_apart_and_what_may_be_a_place_or_no_answer_are_asked_about(
    page: AppTest,
) -> None:
    rows = [
        f"i{i},r{j},{('Yes', 'no', 'yes')[(i + j) % 3]},{'fm'[j % 2]}" for i in range(6) for j in range(6)
    ]
    bring(page, "a.csv", "\n".join(["item,rater,label,gender", *rows]).encode())
    asked = one_about(page, "label")
    assert (plain(asked.label)[:8], asked.value) == ("12 cells", True)
    assert work(page).dataset.summary.categories == ("no", "Yes")
    asked.set_value(False).run()
    assert work(page).dataset.summary.categories == ("no", "Yes", "yes")
    rows = [f"i{i},r{j},{'yn'[(i + j) % 2]},{('DE', 'US', 'NA')[j % 3]}" for i in range(6) for j in range(6)]
    bring(page, "a.csv", "\n".join(["item,rater,label,country", *rows]).encode())
    asked = one_about(page, "country")
    assert (plain(asked.label), asked.value) == ("12 cells with 'NA' in 'country'", None)
    asked.set_value(True).run()
    assert work(page).data_spec.missing == ("", "NA")
    one_about(page, "country").set_value(False).run()
    assert work(page).data_spec.missing == ("",)


@pytest.mark.usefixtures("nothing_computed")
def test_raters_whom_a_column_marks_are_asked_about_and_nothing_runs_before(page, server) -> None:
    rows = [f"i{i},r{j},{(i + j) % 2},{'fm'[j % 2]},{j == 3}" for i in range(6) for j in range(6)]
    bring(page, "a.csv", "\n".join(["item,rater,label,gender,removed", *rows]).encode())
    asked = one_about(page, "removed")
    assert (asked.label[:7], asked.value, work(page).dataset) == ("1 rater", None, None)
    assert "6 raters" in seen(page.title)  # as long as nobody has answered, all are shown
    assert widget(page.multiselect, "Leave out raters where").value == []
    assert next(button for button in page.button if button.label == CONTINUE).disabled
    assert "Still to be decided: 1 rater" in seen(page.markdown)
    asked.set_value(True).run()
    assert figures(page)[1] == "5"
    one_about(page, "removed").set_value(False).run()
    assert figures(page)[1] == "6"
    assert work(page).data_spec.exclude == ()
    page.switch_page("analysis.py").run()
    press(page, "Run")
    assert not page.exception
    assert server.answers.find(shown_run(page, server).id, KEPT_RATERS) == [["removed", "True"]]


def test_answers_that_may_not_count_are_named_where_they_can_be_left_out(page: AppTest) -> None:
    rows = [f"i{i},r{j},{(i + j) % 2},{int(i != j)}" for i in range(6) for j in range(6)]
    bring(page, "a.csv", "\n".join(["item,rater,label,accept", *rows]).encode())
    assert "Please check: 'accept' = '0' in 6 rows of 36" in seen(page.caption)
    chosen = widget(page.multiselect, "Leave out annotations where")
    assert (chosen.value, page.metric[2].value) == ([], "36")
    chosen.set_value([("accept", "0")]).run()
    assert page.metric[2].value == "30"


def test_starred_answers_of_a_tool_are_kept_or_left_out(page: AppTest) -> None:
    def answer(rater: int, label: str, *, starred: bool) -> dict[str, Any]:
        result = [{"from_name": "toxic", "type": "choices", "value": {"choices": [label]}}]
        return {"completed_by": rater, "result": result, "ground_truth": starred}

    tasks = [
        {
            "id": task,
            "data": {"text": f"Text {task}"},
            "annotations": [
                *(answer(rater, "YN"[(task + rater) % 2], starred=rater == task) for rater in range(1, 5)),
                answer(9, "Y", starred=True),
            ],
        }
        for task in range(1, 7)
    ]
    bring(page, "tasks.json", json.dumps(tasks).encode())
    one_about(page, "starred").set_value(True).run()
    assert figures(page)[:3] == ["6", "4", "24"]
    one_about(page, "starred").set_value(False).run()
    assert figures(page)[:3] == ["6", "5", "30"]
    everything = [("starred", "reference"), ("starred", "rater")]
    widget(page.multiselect, "Leave out annotations where").set_value(everything).run()
    assert figures(page)[:3] == ["6", "4", "20"]


@pytest.mark.parametrize(
    ("people", "rater", "axis"),
    [
        ("Submission id,Participant id,Status,Started at,Time taken,Sex/s{0},p{0},APPROVED,a,60,{1}",
         "participant", "Sex"),
        ("rater,age,gender/p{0},{2},{1}", "rater", "gender"),
    ],
    ids=["submissions of a platform", "a table of raters"],
)  # fmt: skip
def test_a_file_about_raters_waits_for_the_labels(page: AppTest, people: str, rater: str, axis: str) -> None:
    head, row = people.split("/")
    rows = [row.format(j, "fm"[j % 2], "old" if j % 3 else "young") for j in range(6)]
    bring(page, "people.csv", "\n".join([head, *rows]).encode())
    assert "Now add the labels" in seen(page.info)
    rows = [f"i{i},p{j},{(i + j) % 2}" for i in range(6) for j in range(6)]
    drop(page, "votes.csv", "\n".join([f"item,{rater},label", *rows]).encode())
    assert not page.error
    assert work(page).raters.name == "people.csv"
    assert axis in work(page).dataset.raters.axes


def matrix(*columns: str, first: str) -> bytes:
    """Twelve rows of labels, each after a cell of this text and the row's number."""
    rows = [
        [first.format(i, "fm"[i % 2]), *("Yes" if (i * j) % 3 else "No" for j in range(8))] for i in range(12)
    ]
    return csv_bytes([columns, *rows])


def test_matrix_layouts(page: AppTest) -> None:
    bring(page, "matrix.csv", matrix("item", *(f"rater_{j}" for j in range(8)), first="i{0}"))
    assert widget(page.selectbox, "Layout").value == "items-by-raters"
    assert figures(page) == ["12", "8", "96", "8"]
    widget(page.selectbox, "Layout").set_value("long").run()
    assert "still to be chosen" in seen(page.error)


def test_each_row_may_be_a_rater(page: AppTest) -> None:
    bring(page, "faces.csv", matrix("sex", *(f"X{j:03d}" for j in range(8)), first="{1}"))
    assert widget(page.selectbox, "Layout").value == "raters-by-items"
    assert widget(page.selectbox, RATER_COLUMN).value == ""
    assert figures(page)[:3] == ["8", "12", "96"]


def test_uploaded_files_can_be_deleted_at_once(page, server, example) -> None:
    page.switch_page("data.py").run()
    assert "deleted 24 hours after they were last used" in seen(page.caption)
    assert "Delete the uploaded files now" not in labels(page.button)
    open_example(page, example)
    kept = [hashlib.sha256(content).hexdigest() for content in example.values()]
    assert all(server.files.get(sha256) for sha256 in kept)
    press(page, "Delete the uploaded files now")
    press(page, "Keep them")
    assert all(server.files.get(sha256) for sha256 in kept)
    press(press(page, "Delete the uploaded files now"), "Delete them")
    assert not any(server.files.get(sha256) for sha256 in kept)
    assert UNDERSTOOD not in seen(page.title)


def test_runs_that_may_still_need_the_files_are_told_of(page, server, example) -> None:
    open_example(page, example).switch_page("analysis.py").run()
    server.service.close()  # so that it waits
    press(page, "Run")
    page.query_params.clear()
    page.switch_page("data.py").run()
    press(page, "Delete the uploaded files now")
    assert "One run that is still going may need these files" in seen(page.warning)


AGES = "\n".join(
    ["item,rater,label,age,harm,bias,ms,gold"]
    + [
        f"i{i},r{j},{'Yes' if (i + j) % 3 else 'no'},{20 + 5 * j},No,{'No' if j - i else 'Yes'},{100 * j},Yes"
        for i in range(6)
        for j in range(6)
    ]
).encode()


def test_numbers_are_cut_with_a_preview_whatever_their_column_is_called(page: AppTest) -> None:
    bring(page, "ages.csv", AGES)
    widget(page.button_group, "Add a step").set_value("Cut numbers").run()
    widget(page.selectbox, "Column to recode").set_value("age").run()
    widget(page.text_input, "Cut at").set_value("25, 40").run()
    assert widget(page.text_input, "Names of the ranges").value == "under 25, 25-39, 40 and over"
    assert "the step begun under Recode values" in everything(page)  # which would be lost otherwise
    assert widget(page.button, "Continue to the analysis").disabled
    press(page, "Apply")
    assert not widget(page.button, "Continue to the analysis").disabled
    assert work(page).recode == (Bins("age", (25, 40), ("under 25", "25-39", "40 and over")),)
    assert work(page).dataset.raters.axes["age"].values == ("under 25", "25-39", "40 and over")
    press(page, "Remove step 1")
    assert work(page).recode == ()
    bring(page, "ages.csv", AGES.replace(b"age", b"Labels", 1))
    cut(page, "Labels", at="25")
    assert work(page).recode == (Bins("Labels", (25,), ("under 25", "25 and over")),)


def test_data_does_not_send_anybody_to_itself(page: AppTest) -> None:
    rows = [f"i{i},r{j},{(i + j) % 3 > 0},{20 + j}" for i in range(8) for j in range(30)]
    bring(page, "ages.csv", "\n".join(["item,rater,label,age", *rows]).encode())
    assert "cut it into ranges, under Recode values" in everything(page).replace("\\", "")
    assert "on Data" not in everything(page)
    press(page, "Cut age into under 30, 30-38, 39 and over")
    assert work(page).recode == (Bins("age", (30, 39), ("under 30", "30-38", "39 and over")),)
    assert work(page).proposed_axes == ("age",)
    assert "into ranges, under Recode values" not in everything(page)
    press(page, "Remove step 1")
    assert work(page).recode == ()


def test_who_was_left_out_by_a_value_that_is_recoded_does_not_come_back_silently(page: AppTest) -> None:
    bring(page, "ages.csv", AGES)
    widget(page.multiselect, "Leave out raters where").set_value([("age", "20")]).run()
    assert work(page).dataset.summary.raters == 5
    cut(page, "age", at="25, 40")
    assert work(page).data_spec.exclude == (("age", "20"),)
    assert "no rater was excluded by 'age' = '20', which does not occur" in seen(page.warning)
    widget(page.multiselect, "Leave out raters where").set_value([("age", "under 25")]).run()
    assert work(page).dataset.summary.raters == 5


def test_questions_are_combined_into_the_label(page: AppTest) -> None:
    bring(page, "ages.csv", AGES)
    widget(page.button_group, "Add a step").set_value("Combine questions").run()
    widget(page.multiselect, "Questions").set_value(["harm", "bias"]).run()
    widget(page.multiselect, "The first of these that any question has").set_value(["Yes", "No"]).run()
    widget(page.text_input, "Name of the new column").set_value("unsafe").run()
    press(page, "Apply")
    assert not page.error  # the form is closed, not filled in with what exists by now
    assert "Questions" not in labels(page.multiselect)
    assert "To analyse unsafe, choose it as the label column" in seen(page.caption)
    widget(page.selectbox, LABEL_COLUMN).set_value("unsafe").run()
    assert "To analyse unsafe" not in seen(page.caption)
    assert not page.exception
    assert work(page).dataset.summary.label_counts == (30, 6)


def test_what_is_left_out_is_accounted_for_by_group(page: AppTest) -> None:
    bring(page, "ages.csv", AGES)
    widget(page.selectbox, "Time an annotation took").set_value("ms").run()
    widget(page.number_input, "At least").set_value(150.0).run()
    assert "What was left out" in seen(page.subheader)
    assert work(page).dataset.summary.annotations == 24
    widget(page.text_area, "Leave out these raters").set_value("r5").run()
    assert work(page).dataset.annotations.rater_ids == ("r2", "r3", "r4")
    widget(page.number_input, "Leave out items with fewer annotations than").set_value(9).run()
    assert "no annotation left" in seen(page.error)


def test_another_sheet_can_be_chosen(page: AppTest) -> None:
    bring(page, "both.zip", zipped({"notes.csv": "who,what\na,b\n", "votes.csv": AGES}))
    part = widget(page.selectbox, "Sheet or file inside")
    assert part.value == "votes.csv"  # the first that can hold annotations
    assert work(page).dataset.summary.annotations == 36
    part.set_value("notes.csv").run()
    assert "has only 2 columns" in seen(page.error)
    assert "both.zip is still in use" in seen(page.error)
    assert work(page).dataset.summary.annotations == 36


def test_the_raters_may_be_on_another_sheet(page: AppTest) -> None:
    people = "rater,group\n" + "".join(f"r{j},{'ab'[j % 2]}\n" for j in range(6))
    bring(page, "both.zip", zipped({"votes.csv": AGES, "people.csv": people}))
    assert work(page).raters.member == "people.csv"  # told by its content
    assert work(page).dataset.raters.axes["group"].values == ("a", "b")
    press(page, "Remove the raters file")
    assert "group" not in work(page).dataset.raters.axes
    other = widget(page.selectbox, "Sheet or file inside with the raters")
    assert (other.value, other.options) == (None, ["people.csv"])
    other.set_value("people.csv").run()
    assert work(page).dataset.raters.axes["group"].values == ("a", "b")


def test_a_file_per_annotator_is_read_as_one_table_or_alone(page: AppTest) -> None:
    header, *cells = (line.split(",") for line in AGES.decode().splitlines())
    at = header.index("rater")
    raters = dict.fromkeys(row[at] for row in cells)
    files = {}
    for rater in raters:
        own = [header, *(row for row in cells if row[at] == rater)]
        files[f"{rater}.csv"] = "".join(",".join([*row[:at], *row[at + 1 :]]) + "\n" for row in own)
    bring(page, "all.zip", zipped(files))
    part = widget(page.selectbox, "Sheet or file inside")
    assert part.value == part.options[0] == "All that fit together, as one per annotator does"
    assert len(work(page).annotations) == len(cells)
    assert work(page).annotations.distinct("rater") == tuple(raters)
    part.set_value(f"{next(iter(raters))}.csv").run()
    assert "rater" not in work(page).annotations.columns
    part = widget(page.selectbox, "Sheet or file inside")
    part.set_value(part.options[0]).run()
    assert len(work(page).annotations) == len(cells)
    assert not page.exception


def test_files_of_the_same_columns_that_come_together_are_read_as_one(page: AppTest) -> None:
    page.switch_page("data.py").run()
    own = {
        rater: "item,label\n" + "".join(f"i{i},{'YN'[i * (k + 2) % 3 % 2]}\n" for i in range(30))
        for k, rater in enumerate(("anna", "ben", "carla"))
    }
    files = [(f"{rater}.csv", text.encode(), "text/csv") for rater, text in own.items()]
    page.file_uploader[0].set_value([*files, ("broken.csv", b"\x89PNG\r\n not a table", "text/csv")]).run()
    assert "broken.csv" in seen(page.error)  # and the others are taken
    assert "90 answers to 30 items by 3 raters" in seen(page.title)
    assert work(page).annotations.distinct("rater") == ("anna", "ben", "carla")


def test_a_file_that_fits_nothing_is_asked_about(page: AppTest, example: dict[str, bytes]) -> None:
    open_example(page, example)
    stray = "name,colour,size\n" + "".join(f"x{j},{'rgb'[j % 3]},{j % 4}\n" for j in range(12))
    drop(page, "stray.csv", stray.encode())
    assert "stray.csv: nothing in it joins to the labels. What does it hold?" in seen(page.markdown)
    assert "104 raters" in seen(page.title)
    press(page, "Leave it out")
    assert "stray.csv" not in seen(page.markdown)
    drop(page, "other.csv", AGES)
    assert "36 answers to 6 items by 6 raters" in seen(page.title)  # other labels: theirs are gone
    assert work(page).raters is None


def test_a_file_changes_its_role(page: AppTest, example: dict[str, bytes]) -> None:
    open_example(page, example)
    holds = next(box for box in page.selectbox if box.label == "This file holds" and box.value == "raters")
    holds.set_value("items").run()
    assert work(page).items.name == "raters.csv"
    assert work(page).raters is None


def work(page: AppTest) -> VisitorSession:
    session: VisitorSession = page.session_state["work"]
    return session


def answers_of(*more: str) -> bytes:
    rows = ["item,rater,label,gender,when"]
    rows += [f"i{n % 6},r{n // 6},{'Yes' if n % 4 else 'No'},{'w' if n < 18 else 'm'},{n}" for n in range(36)]
    return "\n".join([*rows, *more]).encode()


def asked(page: AppTest, words: str) -> ButtonGroup:
    return next(one for one in page.segmented_control if words in one.label.replace("\\", ""))


def test_of_an_item_answered_twice_it_is_asked_which_answer_counts_and_of_many_nothing_is_recommended(
    page: AppTest,
) -> None:
    bring(page, "votes.csv", answers_of("i0,r0,Yes,w,-9"))
    question = asked(page, "1 answer that differs from another of the same rater to the same item")
    assert (question.options, question.value) == (["Last counts (recommended)", "First counts"], None)
    assert "'No' in row 2 and 'Yes' in row 38" in seen(page.markdown)
    assert "36 answers to 6 items by 6 raters" in seen(page.title)
    assert "--" not in seen(page.markdown)
    assert widget(page.button, CONTINUE).disabled
    question.set_value(True).run()
    work: VisitorSession = page.session_state["work"]
    assert (work.data_spec.repeated, work.data_spec.order) == ("last", None)
    assert "**No**: 8" in seen(page.markdown)
    widget(page.selectbox, "Which came first is told by").set_value("when").run()
    assert work.data_spec.order == "when"
    assert "**No**: 9" in seen(page.markdown)
    asked(page, "differs from another").set_value(False).run()
    assert (work.data_spec.repeated, work.data_spec.order) == ("first", "when")
    assert not widget(page.button, CONTINUE).disabled
    again = [f"i{n % 6},r{n // 6},{'No' if n % 4 else 'Yes'},{'w' if n < 18 else 'm'},{n}" for n in range(9)]
    bring(page, "votes.csv", answers_of(*again))
    question = asked(page, "9 answers that differ from others")
    assert (question.options, question.value) == (["Last counts", "First counts"], None)
    assert "many raters have several rows for an item" in seen(page.markdown)
    assert widget(page.button, CONTINUE).disabled


def test_rows_without_an_id_are_asked_about(page: AppTest) -> None:
    bring(page, "votes.csv", answers_of("i0,,Yes,,3", "i1,  ,No,,3", ",r1,No,w,3", "i2,,,,3"))
    item, rater = asked(page, "1 row without an id in 'item'"), asked(page, "2 rows without an id in 'rater'")
    assert item.options == ["Leave out (recommended)", "Mend the file"]
    assert (item.value, rater.value) == (None, None)
    assert "36 answers to 6 items by 6 raters" in seen(page.title)
    item.set_value(True).run()
    assert widget(page.button, CONTINUE).disabled
    asked(page, "in 'rater'").set_value(False).run()
    assert "the id is blank (and in 1 more row)" in seen(page.error)
    assert not page.metric
    asked(page, "in 'rater'").set_value(True).run()
    work: VisitorSession = page.session_state["work"]
    assert work.data_spec.filters.drop == (("item", ""), ("rater", ""))
    assert not page.error
    assert not widget(page.button, CONTINUE).disabled


def test_ages_that_make_no_groups_are_told_until_they_are_cut(page: AppTest) -> None:
    rows = [f"m{n // 40},w{n % 40},{20 + n % 40},{'fm'[n % 2]},{n * 7 % 3 % 2}" for n in range(400)]
    content = "\n".join(["item,rater,age,sex,hate", *rows]).encode()
    drop(page.switch_page("data.py").run(), "votes.csv", content)
    assert "'age' makes no groups yet: 40 numbers are too many" in seen(page.caption)
    work(page).recode = (Bins("age", (30.0, 40.0), ("-30", "30-40", "40-")),)
    assert "makes no groups yet" not in seen(page.run().caption)


def test_what_is_known_of_raters_and_not_proposed_as_an_axis_is_named(page: AppTest) -> None:
    rows = [f"m{n // 40},w{n % 40},{'fm'[n % 2]},{'ABC'[n % 40 % 3]},{n * 7 % 3 % 2}" for n in range(400)]
    content = "\n".join(["item,rater,sex,canton,hate", *rows]).encode()
    drop(page.switch_page("data.py").run(), "votes.csv", content)
    assert "Compared only if you choose it on Analysis: canton." in seen(page.caption)
