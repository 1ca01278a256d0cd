"""Which items carry what a group says differently, in sentences, tables and files."""

import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import openpyxl
import pytest

from grasp_core.analysis.items.outcomes import Concentration, Contribution, ItemOutcome, ItemsResult, TopTenth
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.groups import Group
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.report.items import (
    CSV_COLUMNS,
    TEXT_LIMIT,
    cut_text,
    in_order,
    items_csv,
    items_table,
    sentences,
    shares,
    side_bars,
    telling,
)
from grasp_core.report.writers.markdown import MARKDOWN_ROWS, items_markdown
from grasp_core.report.writers.spreadsheet import items_xlsx
from tests.results import make_result

HELD = {"p": 0.0001, "q": 0.004, "significance": "corrected"}
NOMINAL = {"p": 0.03, "q": 0.4, "significance": "nominal"}


def part(value: float, label: str | None = None, **tests: Any) -> Contribution:
    return Contribution(value, label, **{"p": 0.5, "q": 0.9, "significance": "none", "reason": None, **tests})


def item(name: str, use: Contribution, distance: Contribution | None = None) -> ItemOutcome:
    return ItemOutcome(name, {"No": 1, "Yes": 3}, {"No": 15, "Yes": 5}, use, distance)


def result(*items: ItemOutcome, top: Mapping[str, float | None] | None = None, **more: Any) -> ItemsResult:
    measured = {"label_use": len(items), "distance": sum(row.distance is not None for row in items)}
    tenth = TopTenth(1, **{"share": 0.3, "chance": 0.25, "low": 0.2, "high": 0.4, **(top or {})})
    fields: dict[str, Any] = {
        "code_version": "0",
        "data": make_result().data,
        "spec": RunSpec(DataSpec(item="i", rater="r", label="l"), AnalysisSpec(axes=(("race", "gender"),))),
        "permutations": 10_000,
        "question": None,
        "group": Group(("race", "gender"), ("Black", "Woman")),
        "n_raters": 4,
        "n_others": 20,
        "distance": 0.05,
        "label_use": {"No": -0.11, "Yes": 0.11},
        "spread": {name: Concentration(n, n, tenth) for name, n in measured.items()},
        "items": items,
        "warnings": (),
    }
    return ItemsResult(**{**fields, **more})


AS_FOUND = TopTenth(1, 0.8, 0.25, 0.2, 0.4)
FOUND = result(
    item("plain", part(0.001, "Yes"), part(-0.001)),
    item("strange", part(0.02, "Yes", **HELD), part(0.02, **HELD)),
    item("odd", part(-0.03, "Yes", **NOMINAL), part(0.005, **NOMINAL)),
    item("lone", part(0.002, "Yes", p=None, q=None, reason=NoValue.ONE_LABEL_ACROSS())),
)


def said(found: ItemsResult, measure: Any) -> list[str]:
    return [sentence.plain for sentence in sentences(found, measure)]


def test_sentences_say_how_much_then_how_sure_then_what_to_do() -> None:
    found = replace(FOUND, spread={**FOUND.spread, "distance": Concentration(3, 3, AS_FOUND)})
    assert said(found, "distance") == [
        "Black Woman raters’ answers differ from the others’ by a distance of 0.050, on 3 items that both "
        "sides labelled. Their verdict says whether it is luck.",
        "On 1 of 3 items, which makes 80 % of all distance on single items, both sides differ more than luck "
        "explains: strange (“Yes” more often).",
        "The tenth with most of it (1 item) makes 80 % of all distance on single items; by luck it would be "
        "25 % (20 % to 40 %). Few items make much of the difference.",
        "Read this item first, beside both sides’ labels.",
    ]
    assert said(FOUND, "label_use")[:2] == [
        "Black Woman raters say “Yes” 11.0 points more often than the others, on 4 items that both sides "
        "labelled. Their verdict says whether it is luck.",
        "On 1 of 4 items both sides differ more than luck explains: strange (“Yes” more often).",
    ]


def test_items_that_hold_stand_in_the_tables_order_without_a_sentence_on_luck() -> None:
    names = ("small", "large", "lucky")
    parts = (part(0.02, **HELD), part(0.03, **HELD), part(0.04, **NOMINAL))
    uses = (part(-0.2, "No"), part(-0.1, "No"), part(0.3, "Yes", **HELD))
    found = result(*map(item, names, uses, parts))
    assert [row.item for row, _ in in_order(found, "distance", "part")] == ["lucky", "large", "small"]
    assert "differ more than luck explains: large, small." in said(found, "distance")[1]
    assert "lucky (“Yes” more often)" in said(found, "label_use")[1]
    assert not any("luck would spread" in one.lower() for one in said(found, "distance"))


def test_a_finding_is_shown_on_items_in_the_tables_order() -> None:
    other = replace(item("other", part(0.01, "No"), part(0.03)), inside={"No": 4}, outside={"Yes": 5})
    found = result(
        item("large", part(-0.1, "No"), part(0.02)), item("more", part(0.3, "Yes"), part(0.01)), other
    )
    assert [(row.item, label) for row, label in telling(found, None, 0)] == [
        ("other", "No"),
        ("large", "No"),
        ("more", "Yes"),
    ]
    assert [(row.item, label) for row, label in telling(found, "Yes", 0.1)] == [
        ("large", "Yes"),
        ("more", "Yes"),
    ]
    assert [(row.item, label) for row, label in telling(found, "Yes", -0.1)] == [("other", "Yes")]


def test_no_single_item_is_said_plainly_with_what_the_top_tenth_makes() -> None:
    alone = result(item("odd", part(-0.03, "Yes", **NOMINAL), part(0.005)), item("b", part(0.0, "No")))
    _, single, _, advice = said(alone, "label_use")
    assert single == (
        "On no single item do both sides differ more than luck explains among 2 items. 1 is a hint; luck "
        "alone would give about 0."
    )
    assert advice.startswith("Any difference is spread over many items")
    few = result(item("odd", part(0.0, "Yes")), top={"share": 0.6})
    assert said(few, "label_use")[-1].startswith("Read the items at the top of the table together")
    unknown = result(item("odd", part(0.0, "Yes")), top={"chance": None, "low": None, "high": None})
    assert said(unknown, "label_use")[2].endswith(
        "there are too few permutations to say what luck would give."
    )
    many = result(*(item(f"i{n}", part(0.01, "Yes", **HELD), None) for n in range(7)))
    assert said(many, "label_use")[1].endswith("i4 (“Yes” more often) and 2 more.")


def test_what_cannot_be_said_has_a_reason() -> None:
    lone = result(
        item("a", part(0.0, "Yes")),
        distance=None,
        spread={
            "label_use": Concentration(1, 0, None),
            "distance": Concentration(0, 0, None, NoValue.NO_PAIRED_ITEM()),
        },
        label_use={"No": 0.0, "Yes": 0.0},
    )
    assert said(lone, "distance") == [
        "Black Woman: no item was rated by two raters of the group and by two others, so no item has a "
        "distance."
    ]
    use = said(lone, "label_use")
    assert use[0].startswith("Black Woman raters use the labels as often as the others do")
    assert use[1] == "No item could be tested."


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("part", ["odd", "strange", "lone", "plain"]),
        ("p", ["strange", "odd", "plain", "lone"]),
        ("item", ["plain", "strange", "odd", "lone"]),
    ],
)
def test_items_stand_in_the_order_that_is_wanted(order: Any, names: list[str]) -> None:
    assert [row.item for row, _ in in_order(FOUND, "label_use", order)] == names


def test_table_has_both_sides_and_texts_where_they_may_be_seen() -> None:
    rows = in_order(FOUND, "label_use", "p")[:1]
    (line,) = items_table(FOUND, "label_use", rows, {"strange": "Is it\nsafe?"}).to_dict("records")
    assert line == {
        "Item": "strange",
        "Text": "Is it safe?",
        "Label": "Yes",
        "Part": "+2.00 points **",
        "Black Woman": "“Yes” 75 %, “No” 25 % (4)",
        "Others": "“No” 75 %, “Yes” 25 % (20)",
        "p": "< 0.001",
        "q": "0.004",
    }
    (apart,) = items_table(FOUND, "distance", in_order(FOUND, "distance", "part")[:1]).to_dict("records")
    assert apart["Part"] == "0.020 (80 %) **"
    assert "Text" not in apart


def test_bars_are_the_shares_of_all_labels_in_one_order() -> None:
    rows = in_order(FOUND, "label_use", "p")[:1]
    assert list(FOUND.label_use) == ["No", "Yes"]
    assert side_bars(FOUND, rows) == {"Black Woman": [[0.25, 0.75]], "Others": [[0.75, 0.25]]}
    called = replace(FOUND, group=Group(("gender",), ("Others",)))
    assert list(side_bars(called, rows)) == ["Others raters", "Others"]
    assert {"Others raters", "Others"} < set(items_table(called, "label_use", rows))


def test_texts_are_cut_with_a_mark() -> None:
    long = cut_text("word " * 200_000)
    assert len(long) <= TEXT_LIMIT + 1
    assert long.endswith("…")
    assert cut_text("short\ntext") == "short text"
    assert shares({str(k): 1 for k in range(10)}).endswith("other labels 60 % (10)")


def test_csv_has_every_number_and_runs_no_formula() -> None:
    hostile = result(
        item("=1+1", part(1 / 3, "Yes", **HELD), part(0.02)), warnings=(Caution.TOO_FEW_FOR_P(),)
    )
    (row,) = csv.DictReader(io.StringIO(items_csv(hostile)))
    assert [*row][: len(CSV_COLUMNS)] == list(CSV_COLUMNS)
    assert row["item"] == "'=1+1"
    assert float(row["label_use"]) == 1 / 3
    assert (row["label"], row["label_use_significance"], row["distance_p"]) == ("Yes", "corrected", "0.5")
    assert [row[name] for name in ("n_group", "n_others", "group: Yes", "others: Yes")] == [
        "4",
        "20",
        "3",
        "5",
    ]
    empty = next(csv.DictReader(io.StringIO(items_csv(result(item("a", part(0.0, "Yes")))))))
    assert (empty["distance"], empty["distance_reason"]) == ("", "")


def test_workbook_has_a_sheet_for_each_measure() -> None:
    hostile = result(*FOUND.items, item("=cmd()", part(0.0, "No"), part(0.0)))
    book = openpyxl.load_workbook(io.BytesIO(items_xlsx(hostile, {"strange": "x" * 40_000})))
    assert book.sheetnames == ["Answer", "Distance", "Label use"]
    rows = list(book["Label use"].iter_rows(values_only=True))
    assert rows[0] == (
        *("Item", "Text", "Label", "Part, points", "p", "q", "*"),
        *("Group: No", "Others: No", "Group: Yes", "Others: Yes"),
    )
    assert rows[1][:4] == ("odd", None, "Yes", -3.0) or rows[1][:4] == ("odd", "", "Yes", -3.0)
    assert len(rows[2][1]) == TEXT_LIMIT + 1
    assert {cell.data_type for cell in book["Label use"]["A"]} == {"s"}
    assert "Text" not in [
        cell.value for cell in openpyxl.load_workbook(io.BytesIO(items_xlsx(FOUND)))["Distance"][1]
    ]


def test_markdown_lists_the_first_items_and_names_are_harmless() -> None:
    many = result(*(item(f"i|{n}", part(0.01, "Yes"), part(0.01)) for n in range(MARKDOWN_ROWS + 3)))
    text = items_markdown(many)
    assert text.startswith("# Items of Black, Woman (race × gender)\n")
    assert text.count("3 further items are in the CSV.") == 2
    assert r"| i\|0 |" in text
    hostile = replace(FOUND, group=Group(("race", "gender"), ("<b>\u202e", "[x](y)")))
    assert "<b>" not in sentences(hostile, "distance")[0].markdown
    assert "\\<b\\>" in items_markdown(hostile)


def test_of_equal_q_the_items_that_carry_most_are_named_first() -> None:
    little, much = (
        item(name, part(0.01, "Yes"), part(size, **HELD)) for name, size in (("a", 0.001), ("b", 0.02))
    )
    assert "luck explains: b, a." in said(result(little, much), "distance")[1]
