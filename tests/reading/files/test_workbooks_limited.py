"""Workbooks that take much memory or time are refused by the limits of the process that reads them."""

from __future__ import annotations

import io

import openpyxl
import pytest

from grasp_core.model.errors import DataError
from grasp_core.reading.sandbox.read import read_table
from tests.reading.files.workbook_files import changed, ods_bytes, xlsx_bytes

pytestmark = pytest.mark.in_earnest


def refusal(content: bytes) -> str:
    with pytest.raises(DataError, match=r"votes\.xlsx") as caught:
        read_table(content, "votes.xlsx")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def repeated(rows: int, columns: int) -> bytes:
    """An ODS file of a few bytes whose one cell fills the rows and columns."""
    cell = f'<table:table-cell table:number-columns-repeated="{columns}" office:value-type="string">'
    row = f'<table:table-row table:number-rows-repeated="{rows}">{cell}<text:p>x</text:p></table:table-cell>'
    return ods_bytes({"S": row + "</table:table-row>"})


def test_cells_far_apart_take_no_memory_here():
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "a", "b"
    file = io.BytesIO()
    book.save(file)
    message = refusal(file.getvalue())
    assert "GiB of memory, the most that one file may" in message
    assert "a cell far away from the table may be filled" in message


@pytest.mark.parametrize(("rows", "columns"), [(1_048_576, 16_384), (2**31, 2**31), (30_000, 16_384)])
def test_repeated_cells_of_an_ods_file_take_no_memory_here(rows, columns):
    assert refusal(repeated(rows, columns))


def test_a_long_text_that_many_cells_share_takes_no_memory_here(monkeypatch):
    monkeypatch.setenv("GRASP_READ_MEMORY_MB", "256")
    content = xlsx_bytes([["long", "short"], *[["Yes", "y"]] * 1_000])
    content = changed(content, "xl/sharedStrings.xml", "<t>Yes</t>", "<t>" + "x" * 2**20 + "</t>")
    assert len(content) < 2**20
    assert "takes more than 0.25 GiB of memory" in refusal(content)


def test_time_is_limited(monkeypatch):
    monkeypatch.setenv("GRASP_READ_SECONDS", "1")
    assert "takes more than 1 seconds of processor time" in refusal(repeated(40_000, 1_000))
