from __future__ import annotations

import hashlib

from streamlit.testing.v1 import AppTest

from grasp_core.server import Server
from tests.pages.visits import drop, open_example, press, seen, widget


def test_without_files_it_says_what_to_bring(page: AppTest) -> None:
    page.switch_page("data.py").run()
    assert "one row per annotation" in seen(page.info)


def test_files_are_recognised_with_reasons(page: AppTest, example: dict[str, bytes]) -> None:
    open_example(page, example)
    assert widget(page.selectbox, "Item column").value == "item_id"
    assert widget(page.selectbox, "Rater column").value == "rater_id"
    assert widget(page.selectbox, "Label column").value == "label"
    assert widget(page.multiselect, "Labels, in order").value == ["No", "Unsure", "Yes"]
    assert widget(page.multiselect, "Cell texts that mean “no value”").value == [""]
    assert seen(page.caption).count("Guessed: ") >= 4


def test_what_was_understood(page: AppTest, example: dict[str, bytes]) -> None:
    open_example(page, example)
    assert [metric.value for metric in page.metric] == ["350", "104", "36,400", "104"]
    crossed = page.dataframe[-1].value
    assert crossed.loc["Total", "Total"] == 104
    assert crossed.loc["Black", "Woman"] == 16


def test_a_bad_file_gets_its_sentence_and_the_good_one_stays(
    page: AppTest, example: dict[str, bytes]
) -> None:
    open_example(page, example)
    drop(page, "Annotations", "broken.xlsx", b"PK\x03\x04 and so on")
    assert "broken.xlsx" in seen(page.error)
    assert "annotations.csv is still in use" in seen(page.error)
    assert [metric.value for metric in page.metric] == ["350", "104", "36,400", "104"]
    drop(page, "Annotations", "annotations.csv", example["annotations.csv"])
    assert not page.error


def test_a_file_that_cannot_hold_annotations_is_refused(page: AppTest) -> None:
    page.switch_page("data.py").run()
    drop(page, "Annotations", "two.csv", b"a,b\n1,2\n")
    assert "two.csv has only 2 columns" in seen(page.error)
    assert not page.metric


def test_problems_that_stop_are_listed(page: AppTest, example: dict[str, bytes]) -> None:
    open_example(page, example)
    widget(page.selectbox, "Label column").set_value("item_id").run()
    assert "Problems to mend first" in seen(page.header)
    assert "named for two" in seen(page.error)
    assert not page.metric
    page.switch_page("analysis.py").run()
    assert "no data to analyse" in seen(page.info)


def test_a_label_that_is_not_declared_stops(page: AppTest, example: dict[str, bytes]) -> None:
    open_example(page, example)
    widget(page.multiselect, "Labels, in order").set_value(["No", "Yes"]).run()
    assert "'Unsure' is not one of the declared categories" in seen(page.error)
    widget(page.multiselect, "Cell texts that mean “no value”").set_value(["", "Unsure"]).run()
    assert "Problems to mend first" not in seen(page.header)
    assert int(page.metric[2].value.replace(",", "")) < 36_400


def test_oddities_are_listed_apart(page: AppTest, example: dict[str, bytes]) -> None:
    page.switch_page("data.py").run()
    drop(page, "Annotations", "annotations.csv", example["annotations.csv"].replace(b",Unsure", b",N/A", 1))
    assert "looks" in seen(page.warning) or "N/A" in seen(page.warning)
    assert [metric.value for metric in page.metric][2] == "36,400"


def test_raters_are_left_out_by_a_column(page: AppTest) -> None:
    page.switch_page("data.py").run()
    rows = [f"i{i},r{j},{(i + j) % 2},{'True' if j == 3 else 'False'}" for i in range(6) for j in range(6)]
    drop(page, "Annotations", "a.csv", "\n".join(["item,rater,label,removed", *rows]).encode())
    assert widget(page.multiselect, "Leave out raters where").value == [("removed", "True")]
    assert [metric.value for metric in page.metric][1] == "5"
    widget(page.multiselect, "Leave out raters where").set_value([]).run()
    assert [metric.value for metric in page.metric][1] == "6"


def test_removing_the_file_starts_over(page: AppTest, example: dict[str, bytes]) -> None:
    open_example(page, example)
    press(page, "Remove the annotations file")
    assert "one row per annotation" in seen(page.info)
    assert not page.metric


def test_matrix_layouts(page: AppTest) -> None:
    page.switch_page("data.py").run()
    head = ",".join(["item", *(f"rater_{j}" for j in range(8))])
    rows = [",".join([f"i{i}", *("Yes" if (i * j) % 3 else "No" for j in range(8))]) for i in range(12)]
    drop(page, "Annotations", "matrix.csv", "\n".join([head, *rows]).encode())
    assert widget(page.selectbox, "Layout").value == "items-by-raters"
    assert [metric.value for metric in page.metric] == ["12", "8", "96", "8"]
    widget(page.selectbox, "Layout").set_value("long").run()
    assert "still to be chosen" in seen(page.error)


def test_uploaded_files_can_be_deleted_at_once(
    page: AppTest, server: Server, example: dict[str, bytes]
) -> None:
    page.switch_page("data.py").run()
    assert "deleted 24 hours after they were last used" in seen(page.caption)
    assert "Delete the uploaded files now" not in [button.label for button in page.button]
    open_example(page, example)
    kept = [hashlib.sha256(content).hexdigest() for content in example.values()]
    assert all(server.files.get(sha256) for sha256 in kept)
    press(page, "Delete the uploaded files now")
    press(page, "Keep them")
    assert all(server.files.get(sha256) for sha256 in kept)
    press(press(page, "Delete the uploaded files now"), "Delete them")
    assert not any(server.files.get(sha256) for sha256 in kept)
    assert "What was understood" not in seen(page.header)


def test_runs_that_may_still_need_the_files_are_told_of(
    page: AppTest, server: Server, example: dict[str, bytes]
) -> None:
    open_example(page, example).switch_page("analysis.py").run()
    widget(page.number_input, "Permutations").set_value(2_000_000).run()
    press(page, "Run")
    page.query_params.clear()
    page.switch_page("data.py").run()
    press(page, "Delete the uploaded files now")
    assert "One run that is still going may need these files" in seen(page.warning)
    server.service.cancel(server.runs.search()[0].id)
