import io
import zipfile
from dataclasses import replace
from xml.etree import ElementTree

import openpyxl
import pytest

from grasp_core.model.groups import one_line
from grasp_core.model.outcome import Outcome, Shift
from grasp_core.model.remarks.remark import said
from grasp_core.model.text import printable
from grasp_core.report.contents import not_estimable
from grasp_core.report.words.names import NOT_ESTIMABLE
from grasp_core.report.writers.spreadsheet import table_xlsx
from tests.report.hostile import TEXTS, hostile_result
from tests.results import make_group, make_label_use, make_result, with_label_use, with_pairs, with_slices

SHEETS = ["Answer", "Table 5", "DSI", "Methods & conventions", "Data"]


def read(result):
    return openpyxl.load_workbook(io.BytesIO(table_xlsx(result)))


def column(sheet, head):
    position = [cell.value for cell in sheet[1]].index(head)
    return [row[position] for row in sheet.iter_rows(min_row=2)]


def texts(sheet, head):
    return [cell.value for cell in column(sheet, head)]


def test_pairs_have_a_sheet_of_their_own():
    book = read(with_pairs())
    assert book.sheetnames == [*SHEETS[:3], "Pairs", *SHEETS[3:]]
    values = [cell.value for cell in column(book["Pairs"], "Value")]
    assert max(values) == pytest.approx(14.2)
    assert len(values) == 3 * 8


def test_slices_have_sheets_of_their_own():
    book = read(with_slices())
    assert book.sheetnames == [*SHEETS[:3], "Label use", "Slices", "Label use by slice", *SHEETS[3:]]
    sheet = book["Slices"]
    assert [texts(sheet, head) for head in ("Column", "Value", "Items")] == [
        ["topic", "topic"],
        ["news", "sport"],
        [20, 10],
    ]
    assert (texts(sheet, "IRR"), texts(sheet, "IRR ↑↓ *")) == ([0.4, 0.1], ["↑**", "↓"])
    labels = book["Label use by slice"]
    assert texts(labels, "Value") == ["news"] * 3 + ["sport"] * 3
    points = [value for value in texts(labels, "Points more often than the others") if value != "–"]
    assert points == pytest.approx([-12.0, 12.0, 1.0, -1.0])
    found = with_slices()
    (topic,) = found.slices
    values = tuple(replace(one, dsi=make_result().dsi) for one in topic.values)
    sheet = read(replace(found, slices=(replace(topic, values=values),)))["DSI by slice"]
    assert texts(sheet, "Value") == ["news"] * 4 + ["sport"] * 4
    assert texts(sheet, "DSI")[:2] == [1.262, 1.139]


def test_numbers_are_numbers_with_three_digits():
    sheet = read(make_result())["Table 5"]
    assert sheet.dimensions == "A1:AT21"
    row = texts(sheet, "Group").index("Asian, Woman")
    gai, p, q = (column(sheet, head)[row] for head in ("GAI", "GAI p", "GAI q"))
    assert (gai.value, gai.data_type, gai.number_format) == (0.54, "n", "0.000")
    assert (p.data_type, q.data_type) == ("n", "n")
    assert p.number_format == q.number_format == '[<0.001]"< 0.001";0.000'
    assert p.value == pytest.approx(0.0214, abs=1e-4)
    assert texts(sheet, "GAI ↑↓ *")[row] == "↓*"
    assert texts(sheet, "Axis")[row] == "race × gender"
    assert texts(sheet, "Raters")[row] == 10
    sheet = read(make_result(permutations=100))["Table 5"]
    assert column(sheet, "IRR p")[0].number_format == '[=0]"< 0.010";[<0.001]"< 0.001";0.000'
    book = read(make_result(()))
    assert book["Table 5"].dimensions == "A1:AT1"
    assert book["DSI"].dimensions == "A1:K1"


def test_sheets_are_tables_with_frozen_headers():
    book = read(make_result(warnings=("Beware.",)))
    assert book.sheetnames == SHEETS
    assert [sheet.freeze_panes for sheet in book] == ["B2", "C2", "B2", "A2", "A2"]
    for sheet in book:
        (table,) = sheet.tables.values()
        assert table.ref == sheet.dimensions
        assert table.headerRowCount == 1
        assert all(8 <= size.width <= 61 for size in sheet.column_dimensions.values())
    assert texts(book["DSI"], "Axis") == ["race × gender", "race", "gender", "age"]
    methods = book["Methods & conventions"]
    assert texts(methods, "Name")[:8] == [
        "IRR", "XRR", "Negentropy", "Cross-negentropy", "Plurality size", "Voting agreement", "GAI", "DSI",
    ]  # fmt: skip
    assert "IRR / XRR" in texts(methods, "Formula")[6]
    told = list(zip(texts(book["Answer"], "What"), texts(book["Answer"], "In words"), strict=True))
    assert told[0][0] == "Answer"
    assert told[0][1].startswith("White Man raters agree with each other more")
    assert told[1] == ("Warning", "Beware.")
    assert any(said.startswith("What to do: Recruit more") for _, said in told)
    facts = dict(zip(texts(book["Data"], "Name"), texts(book["Data"], "Value"), strict=True))
    assert facts["Items"] == 350
    assert facts["All data"] == "0" * 64


def test_what_cannot_be_estimated():
    rows = (make_group("A", gai=Outcome(None, reason=said("XRR is 0")), irr=Outcome(0.5)),)
    result = make_result(rows, statistics=("irr", "gai"))
    book = read(result)
    sheet = book["Table 5"]
    assert texts(sheet, "GAI") == [NOT_ESTIMABLE]
    assert texts(sheet, "GAI p") == texts(sheet, "IRR q") == ["–"]
    assert texts(sheet, "IRR") == [0.5]
    assert not_estimable(result)[0] in texts(book["Methods & conventions"], "In words")


def test_label_use_has_a_sheet_with_points_as_numbers():
    use = replace(make_label_use({"No": 12.0, "=Yes": -9.0}, "**"), mean=Shift(-0.25, p=0.04, p_both=0.2))
    book = read(make_result((with_label_use(make_group("A"), use),), statistics=("irr",)))
    assert book.sheetnames == [*SHEETS[:3], "Label use", *SHEETS[3:]]
    sheet = book["Label use"]
    assert texts(sheet, "Label") == ["all labels", "No", "=Yes", "mean"]
    assert texts(sheet, "Points more often than the others")[1:] == pytest.approx([12.0, -9.0, -0.25])
    assert texts(sheet, "from")[1:] == [pytest.approx(4.0), pytest.approx(-17.0), "–"]
    assert texts(sheet, "p") == [pytest.approx(use.p), *["–"] * 3]
    assert texts(sheet, "p over raters and items") == [*["–"] * 3, 0.2]
    cell = column(sheet, "Points more often than the others")[2]
    assert (cell.data_type, cell.number_format) == ("n", "+0.0;−0.0;0.0")


def test_text_stays_text():
    content = table_xlsx(hostile_result())
    book = openpyxl.load_workbook(io.BytesIO(content))
    assert texts(book["Table 5"], "Group")[:-1] == [printable(one_line(text)) for text in TEXTS[:-1]]
    assert texts(book["Table 5"], "Group")[-1] == "x" * 199 + "…"
    for sheet in book:
        for row in sheet.iter_rows():
            for cell in row:
                assert cell.data_type in ("s", "n")
                assert cell.hyperlink is None
    quoted = {cell.value for cell in column(book["Table 5"], "Group") if cell.quotePrefix}
    assert {"=1+1", "+1", "-2", "@SUM(A1)"} <= quoted
    assert "a|b" not in quoted


def test_text_that_no_cell_holds_is_cut():
    told = read(make_result(warnings=("x" * 40_000,)))["Answer"]
    assert len(texts(told, "In words")[1]) == 32_767


def test_the_archive_is_well_formed_and_refers_to_nothing_outside():
    with zipfile.ZipFile(io.BytesIO(table_xlsx(hostile_result()))) as archive:
        for name in archive.namelist():
            assert "external" not in name.lower()
            assert "vba" not in name.lower()
            part = archive.read(name)
            root = ElementTree.fromstring(part)
            assert not [element for element in root.iter() if element.tag.endswith("}f")]
            assert b'TargetMode="External"' not in part
