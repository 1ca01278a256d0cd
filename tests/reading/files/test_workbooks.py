"""Spreadsheets become the text of an export to CSV; what cannot be read is refused in a sentence."""

import datetime
import io
import struct
from collections.abc import Iterable, Sequence

import openpyxl
import pytest
import python_calamine as calamine

from grasp_core.reading.archives import containers
from grasp_core.reading.files import workbooks
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table import parsed
from tests.reading.files.workbook_files import changed, members_of, ods_bytes, ods_rows, ole_bytes, xlsx_bytes
from tests.reading.making import refusal_of, written
from tests.zips import zipped

VOTES = [["item", "rater", "label"], ["i1", "r1", "Yes"], ["i1", "r2", "No"]]
PEOPLE = [["rater", "age"], ["r1", "18"]]


def one_sheet_ods(rows: list[list[str]]) -> bytes:
    return ods_bytes({"S": ods_rows(rows)})


def book_of(rows: Iterable[Sequence[object]]) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    return book


def refusal(content: bytes, part: str | None = None) -> str:
    return refusal_of(lambda: read_table(content, "votes.xlsx", member=part), "votes.xlsx")


def saved(book: openpyxl.Workbook) -> bytes:
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


@pytest.mark.parametrize("form", [xlsx_bytes, one_sheet_ods])
def test_text_stays_as_it_is(form):
    rows = [["id", "label"], ["007", "NA"], ["a,b", "é"], ['a "quoted" b', "+1"], ["x & y <z>", "1.0"]]
    table = read_table(form(rows), "whatever.csv")
    assert written(table) == rows
    assert (table.members, table.member, table.problems) == ((), None, ())
    assert table.kind in ("XLSX", "ODS")


def test_values_are_those_of_an_export():
    day = datetime.datetime(2024, 1, 31)
    rows = [
        ["a", "b", "c", "d"],
        [7, 0.1, True, day],
        [7.0, 1e22, False, day.replace(hour=3, minute=4, second=5)],
        [296708581782793, -0.0, "", datetime.time(4, 5)],
        [-3, 1.5, 0, datetime.timedelta(hours=26, minutes=3, seconds=4)],
    ]
    assert written(read_table(saved(book_of(rows))))[1:] == [
        ["7", "0.1", "True", "2024-01-31"],
        ["7", "1e+22", "False", "2024-01-31 03:04:05"],
        ["296708581782793", "0", "", "04:05:00"],
        ["-3", "1.5", "0", "26:03:04"],
    ]
    row = ods_rows([["a", "b", "c"]]) + (
        '<table:table-row><table:table-cell office:value-type="float" office:value="2"/>'
        '<table:table-cell office:value-type="boolean" office:boolean-value="true"/>'
        '<table:table-cell office:value-type="date" office:date-value="2024-01-31"/></table:table-row>'
    )
    assert written(read_table(ods_bytes({"S": row}))) == [["a", "b", "c"], ["2", "True", "2024-01-31"]]


def test_old_excel_files_are_read_with_their_sheets():
    content = ole_bytes({"Workbook": biff_stream({"votes": VOTES, "people": PEOPLE})})
    table = read_table(content, "votes.xls")
    assert (table.kind, table.members, table.member) == ("XLS", ("votes", "people"), "votes")
    assert written(table) == VOTES
    assert read_table(content, "votes.xls", member="people").columns == ("rater", "age")


def biff_stream(sheets: dict[str, list[list[str]]]) -> bytes:
    """The stream of a BIFF8 workbook with one label record per cell ([MS-XLS] 2.4)."""

    def record(kind: int, data: bytes) -> bytes:
        return struct.pack("<HH", kind, len(data)) + data

    def start(kind: int) -> bytes:
        return record(0x0809, struct.pack("<HH12x", 0x0600, kind))

    bodies = []
    for rows in sheets.values():
        labels = (
            record(0x0204, struct.pack("<HHHHB", row, column, 0, len(text), 0) + text.encode("latin-1"))
            for row, texts in enumerate(rows)
            for column, text in enumerate(texts)
        )
        bodies.append(start(0x10) + b"".join(labels) + record(0x0A, b""))
    head = start(0x05)
    position = len(head) + sum(12 + len(name) for name in sheets) + 4
    for name, body in zip(sheets, bodies, strict=True):
        head += record(0x85, struct.pack("<IHBB", position, 0, len(name), 0) + name.encode("latin-1"))
        position += len(body)
    return head + record(0x0A, b"") + b"".join(bodies)


def test_formulas_without_a_value_are_refused_and_errors_are_empty():
    book, sheet = book_of(VOTES), "xl/worksheets/sheet1.xml"
    book.active["C2"].value = "=B2"  # openpyxl writes no value
    first = saved(book)
    others = [changed(first, sheet, "</f><v></v></c>", written) for written in ("</f><v/></c>", "</f></c>")]
    for content in (first, *others):
        assert "1 formula in the workbook has no value; open it in a spreadsheet" in refusal(content)
    content = changed(first, sheet, '<c r="C2">', '<c r="C2" t="str">')
    assert read_table(content, "votes.xlsx").cell("label", 0) == ""
    book = book_of(VOTES)
    book.active["C2"].value, book.active["C2"].data_type = "#N/A", "e"
    table = read_table(saved(book), "votes.xlsx")
    assert table.cell("label", 0) == ""
    assert [problem.message for problem in table.problems] == [
        "votes.xlsx: 1 cell of the workbook with an error such as #N/A, read as empty"
    ]


def test_titles_and_blank_rows_are_skipped_wherever_the_table_stands():
    rows = [["Study of 2024"], [], ["exported", "by", "me"][:1], ["item", "rater", "label", "x"]]
    rows += [["i1", "r1", "Yes", 1], [], ["i2", "r1", "", ""], ["i3", "r1", "No"], [None] * 6]
    table = read_table(xlsx_bytes(rows), "votes.xlsx")
    expected = [["i1", "r1", "Yes", "1"], ["i2", "r1", "", ""], ["i3", "r1", "No", ""]]
    assert written(table) == [["item", "rater", "label", "x"], *expected]
    assert [table.row(position) for position in range(3)] == [5, 7, 8]
    (note,) = table.problems
    assert "taken from row 4; 2 rows above it, the first with 'Study of 2024', left out" in note.message
    book = openpyxl.Workbook()
    for row, texts in enumerate(VOTES, start=5):
        for column, text in enumerate(texts, start=3):
            book.active.cell(row, column, text)
    book.active["A1"] = "A title"
    table = read_table(saved(book))
    assert written(table) == VOTES
    assert table.row(0) == 6


def test_the_first_row_is_the_header():
    sparse = [["item", "r1", "r2", "r3"], *([f"i{row}", *[""] * (row % 3), "Yes"] for row in range(40))]
    for rows, columns in (
        ([["Q1", "Q2"], ["How safe?", "How old?"], ["Yes", 3]], ("Q1", "Q2")),  # a second one is a row
        (sparse, ("item", "r1", "r2", "r3")),
        ([["", "item", "label"], [0, "i1", "Yes"], [1, "i2", "No"]], ("column 1", "item", "label")),
    ):
        table = read_table(xlsx_bytes(rows))
        assert (table.columns, len(table)) == (columns, len(rows) - 1)


def test_merged_names_are_refused_and_merged_cells_reported():
    book = book_of([["item", "label", "", "age"], ["i1", "Yes", "No", 3], ["", "No", "No", 4]])
    book.active.merge_cells("A2:A3")
    book.active.merge_cells("B1:C1")
    message = refusal(saved(book))
    assert "row 1: the column name 'label' stands in a cell merged over 2 columns; unmerge it" in message
    book.active.unmerge_cells("B1:C1")
    book.active["C1"] = "second"
    table = read_table(saved(book), "votes.xlsx")
    assert table.cell("item", 1) == ""
    assert "votes.xlsx: 1 merged cell; the value counts for the first" in table.problems[0].message


def book_of_sheets() -> bytes:
    book = book_of([["Votes of 2024"], ["made by hand"]])
    book.active.title = "About"
    for name, rows in {"Empty": [], "Hidden": [["a", "b"]], "Votes": VOTES, "People": PEOPLE}.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book["Hidden"].sheet_state = "hidden"
    chart = openpyxl.chart.LineChart()
    chart.add_data(openpyxl.chart.Reference(book["Votes"], min_col=1, min_row=1, max_row=2))
    book.create_chartsheet("Chart").add_chart(chart)
    return saved(book)


def test_the_first_sheet_with_a_table_is_read_unless_one_is_named_that_is_there():
    content = book_of_sheets()
    table = read_table(content, "votes.xlsx")
    assert (table.members, table.member) == (("About", "Votes", "People"), "Votes")
    assert written(table) == VOTES
    people = read_table(content, "votes.xlsx", member="People")
    assert (people.member, people.columns) == ("People", ("rater", "age"))
    for part in ("Hidden", "None", "a\0b", "\ud800", '"; rm'):
        assert "its sheets are 'About', 'Votes', 'People'" in refusal(book_of_sheets(), part)
    content = ods_bytes({"Votes": ods_rows(VOTES), "Names": ods_rows([["a", "b"]])})
    assert "votes.xlsx, sheet 'Names'" in refusal(content, "Names")


def test_empty_rows_to_the_end_of_the_sheet_cost_nothing_and_columns_have_a_limit(monkeypatch):
    rows = ods_rows(VOTES) + (
        '<table:table-row table:number-rows-repeated="1048570">'
        '<table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    )
    assert written(read_table(ods_bytes({"S": rows}))) == VOTES
    content = ods_bytes({"S": ods_rows([[f"c{column}" for column in range(30)]] * 2)})
    monkeypatch.setattr(workbooks, "MAX_COLUMNS", 20)
    monkeypatch.setattr(parsed, "MAX_COLUMNS", 20)
    assert "30 columns were found, at most 20 are read" in refusal(content)


BOMB = "<!DOCTYPE x [" + "<!ENTITY a0 'xxxxxxxxxx'>" + "".join(
    f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 12)
) + "]>"  # fmt: skip


@pytest.mark.parametrize("member", ["xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/sharedStrings.xml"])
def test_entities_are_refused(member):
    content = xlsx_bytes(VOTES)
    root = members_of(content)[member].decode().split("?>")[-1].strip().split(">")[0]
    bomb = changed(content, member, root, BOMB + root)
    assert "declares a document type, as none should" in refusal(bomb)
    used = changed(bomb, "xl/sharedStrings.xml", "<t>Yes</t>", "<t>&a11;</t>")
    assert "declares a document type" in refusal(used) or "damaged" in refusal(used)


def as_calamine_reads(content: bytes) -> str:
    try:
        with calamine.load_workbook(io.BytesIO(content)) as book:
            return str([book.get_sheet_by_name(name).to_python() for name in book.sheet_names])
    except calamine.CalamineError as error:
        return str(error)


@pytest.mark.parametrize("entity", ["<!ENTITY e 'geheim'>", '<!ENTITY e SYSTEM "{}">'])
def test_no_entity_is_expanded_and_no_other_file_read(tmp_path, entity):
    (tmp_path / "secret").write_text("geheim")
    declared = f"<!DOCTYPE x [{entity.format(tmp_path / 'secret')}]><sst"
    content = changed(xlsx_bytes(VOTES), "xl/sharedStrings.xml", "<t>Yes</t>", "<t>&e;</t>")
    content = changed(content, "xl/sharedStrings.xml", "<sst", declared)
    assert "declares a document type" in refusal(content)
    assert "geheim" not in as_calamine_reads(content)


def test_malformed_xml_on_which_calamine_loops_is_refused():
    content = one_sheet_ods(VOTES)
    for cut in ("</table:table-row>", "</table:table-cell>", "</office:body>"):
        assert "damaged or cut off" in refusal(changed(content, "content.xml", cut, "<"))


def test_unpacking_is_limited_and_pictures_are_not_unpacked(monkeypatch):
    monkeypatch.setattr(containers, "MAX_BYTES", 2**20)
    bomb = changed(xlsx_bytes(VOTES), "xl/sharedStrings.xml", "<t>Yes</t>", "<t>" + "x" * 2**21 + "</t>")
    assert len(bomb) < 2**16
    assert "unpacks to more than 0.000977 GiB" in refusal(bomb)
    many = changed(xlsx_bytes(VOTES), "xl/styles.xml", "</styleSheet>", " " * 700_000 + "</styleSheet>")
    many = changed(many, "xl/sharedStrings.xml", "</sst>", " " * 700_000 + "</sst>")
    assert "unpacks to more than" in refusal(many)
    picture = {"xl/media/image1.png": bytes(2**21)}
    content = zipped(members_of(xlsx_bytes(VOTES)) | picture)
    monkeypatch.setattr(containers, "MAX_BYTES", 2**20)
    assert written(read_table(content)) == VOTES


def test_other_office_files_and_workbooks_without_a_table_are_refused():
    locked = ole_bytes({"EncryptedPackage": bytes(5000), "EncryptionInfo": bytes(100)})
    remark = xlsx_bytes([["item", "label"], ["i1", "Yes"], ["i2", "No", "", "a remark"]])
    for content, sentence in (
        (ole_bytes({"WordDocument": bytes(5000)}), "an old Office file without a sheet"),
        (zipped({"xl/workbook.bin": b"x"}), "binary form XLSB; save it as XLSX"),
        (ods_bytes({"S": ods_rows(VOTES)}, kind="text"), "an OpenDocument file that is no spreadsheet"),
        (locked, "with a password; save it"),
        (xlsx_bytes([["a", "b"]]), "no visible sheet with a table (looked at 'Sheet1')"),
        (xlsx_bytes([["a"], ["b"], ["c"]]), "no visible sheet with a table"),
        (saved(openpyxl.Workbook()), "no visible sheet with a table"),
        (remark, "has no name (D); name every"),
    ):
        assert sentence in refusal(content)


@pytest.mark.parametrize("form", [xlsx_bytes, one_sheet_ods])
def test_cut_off_files_are_refused(form):
    content = form(VOTES)
    for length in range(4, len(content), len(content) // 30):
        assert refusal(content[:length])


@pytest.mark.parametrize("member", ["worksheets/sheet1.xml", "workbook.xml", "_rels/workbook.xml.rels"])
def test_missing_and_cut_off_members_are_refused(member):
    members = members_of(xlsx_bytes(VOTES))
    whole = members.pop(f"xl/{member}")
    assert refusal(zipped(members))
    assert refusal(zipped(members | {f"xl/{member}": whole[: len(whole) // 2]}))


def test_numbers_have_their_shortest_form_and_durations_are_hours_minutes_and_seconds():
    values = {1.0: "1", 0.1 + 0.2: "0.30000000000000004", 1e15: "1000000000000000", 1e16: "1e+16", -0.0: "0"}
    values |= {float("nan"): "", float("inf"): "", -2.5: "-2.5"}
    values |= {datetime.timedelta(days=1, milliseconds=2500): "24:00:02.5"}
    values |= {-datetime.timedelta(minutes=90): "-1:30:00"}
    assert {value: workbooks.text(value) for value in values} == values
