"""A file of each format, and what reading may do with any bytes."""

import bz2
import gzip
import json
import tempfile
from functools import cache
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyreadstat

from grasp_core.model.errors import DataError
from grasp_core.reading.archives import containers
from grasp_core.reading.files import workbooks
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.reading.files.workbook_files import ods_bytes, ods_rows, xlsx_bytes
from tests.reading.making import arrow_bytes, csv_bytes, parquet_bytes, read_here
from tests.zips import zipped

NAME = "votes.bin"
ARROW_MARKS = (b"ARROW1", b"\xff\xff\xff\xff")
_LIMITED = (containers.ZIP, workbooks.OLD_EXCEL, b"$FL", b"<stata", *ARROW_MARKS, b"q\2", b"q\1")
ROWS = [["item", "rater", "label", "text"]] + [
    [f"i{row % 5}", f"r{row // 5}", ("Yes", "No", "")[row % 3], ("é, x", 'a "b"', "c\nd", "007")[row % 4]]
    for row in range(30)
]
RECORDS = [dict(zip(ROWS[0], row, strict=True)) for row in ROWS[1:]]
ARROW = pa.Table.from_pylist(RECORDS)


def statistical_bytes(ending: str, **options: object) -> bytes:
    """The rows as SPSS or Stata keep them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"votes.{ending}"
        write = getattr(pyreadstat, f"write_{ending.removeprefix('z')}")
        write(pd.DataFrame(RECORDS), path, **options)
        return path.read_bytes()


@cache
def samples() -> dict[str, bytes]:
    """A real file of each format."""
    text = csv_bytes(ROWS)
    return {
        "CSV": text,
        "TSV": csv_bytes(ROWS, "\t"),
        "Latin-1": text.decode().encode("latin-1"),
        "UTF-16": text.decode().encode("utf-16"),
        "gzip": gzip.compress(text),
        "zstd": pa.Codec("zstd").compress(text, asbytes=True),
        "bz2": bz2.compress(text),
        "zip": zipped({"folder/votes.csv": text, "more.json": json.dumps(RECORDS).encode()}),
        "XLSX": xlsx_bytes(ROWS),
        "ODS": ods_bytes({"S": ods_rows(ROWS)}),
        "Parquet": parquet_bytes(ARROW),
        "Arrow": arrow_bytes(ARROW, pa.ipc.new_file),
        "Arrow, stream": arrow_bytes(ARROW),
        "SPSS": statistical_bytes("sav"),
        "SPSS, ZSAV": statistical_bytes("zsav", compress=True),
        "Stata": statistical_bytes("dta"),
        "Stata 8": statistical_bytes("dta", version=8),
        "JSON": json.dumps(RECORDS, ensure_ascii=False).encode(),
        "JSON Lines": "\n".join(map(json.dumps, RECORDS)).encode(),
    }


def outcome(content: bytes, name: str = NAME) -> Table | DataError:
    """What reading gives; everything in a table can be looked at.

    Text is parsed in this process, which is quick; what libraries that may end it read, in a limited one.
    """
    try:
        table = (read_table if content.startswith(_LIMITED) else read_here)(content, name)
    except DataError as found:
        error = found
    else:
        return _looked_at(table)
    message = str(error)
    assert name in message
    assert "\n" not in message
    assert len(message) < 1_000
    assert error.problems
    return error


def _looked_at(table: Table) -> Table:
    assert table.data.num_rows == len(table)
    table.data.validate(full=True)
    for column in table.columns:
        values = table.column(column).values
        "".join(values).encode()
    assert table.row(len(table) - 1) >= table.row(0) >= 1
    return table
