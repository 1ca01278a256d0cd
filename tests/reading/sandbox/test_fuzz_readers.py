"""Whatever bytes are read: a table, or a refusal that names the file, in bounded time, and nothing else."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grasp_core.reading.table.table import Table
from tests.reading.files.workbook_files import members_of, ods_bytes, ods_rows, xlsx_bytes
from tests.reading.making import csv_bytes, parquet_bytes
from tests.reading.reader_samples import outcome, samples
from tests.zips import zipped

pytestmark = pytest.mark.in_earnest


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """The content with bytes flipped, cut out, put in and repeated."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, max(0, len(content) - 1)))
        piece, rest = content[start:][: draw(st.integers(1, 64))], content[start:]
        flipped = bytes([piece[0] ^ (1 << draw(st.integers(0, 7)))]) + rest[1:] if piece else b""
        inserted = draw(st.binary(max_size=16)) + rest
        repeated = piece * draw(st.integers(2, 50)) + rest[len(piece) :]
        changed = draw(st.sampled_from((flipped, rest[len(piece) :], inserted, repeated, b"")))
        content = content[:start] + changed
    return content


IN_CI = settings(deadline=10_000, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("form", list(samples()))
@given(data=st.data())
@IN_CI
def test_damaged_files(form, data):
    outcome(data.draw(damaged(samples()[form])))


@pytest.mark.parametrize("form", ["XLSX", "ODS", "zip"])
@given(data=st.data())
@IN_CI
def test_damaged_members_of_sound_archives(form, data):
    members = members_of(samples()[form])
    name = data.draw(st.sampled_from(sorted(members)))
    outcome(zipped({**members, name: data.draw(damaged(members[name]))}))


@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"PK\x03\x04", b"PAR1", b"\x1f\x8b", b"[", b"\xd0\xcf\x11\xe0"]),
)
@IN_CI
def test_any_bytes(content, start):
    outcome(start + content)


_WORDS = r"""{ } [ ] , : "a" "b" "\ud800" "\u00e9" "" "key" "data" "columns" "index" 1 01 -1e999 NaN null true
\ 'x' é"""
TOKENS = st.sampled_from([*_WORDS.split(), "-Infinity", "\ufeff", "\n", " "])


@given(st.sampled_from("{["), st.lists(TOKENS, max_size=30))
@settings(IN_CI, max_examples=4 * settings().max_examples)
def test_any_json_tokens(start, tokens):
    outcome((start + "".join(tokens)).encode())


CELLS = st.sampled_from(
    [
        *("a", "b", '"', '""', "\n", "\r", "\r\n", ",", ";"),
        *("\t", "|", "\0", " ", "é", "\u2028", "\ufeff", "x" * 50),
    ]
)


@given(st.lists(CELLS, max_size=60), st.sampled_from(["utf-8", "utf-16", "latin-1", "utf-16-be"]))
@settings(IN_CI, max_examples=4 * settings().max_examples)
def test_any_delimited_text(cells, encoding):
    outcome("".join(cells).encode(encoding, errors="replace"))


@pytest.mark.parametrize("form", list(samples()))
def test_every_cut_off_file(form):
    content = samples()[form]
    for length in range(0, len(content), max(1, len(content) // settings().max_examples)):
        outcome(content[:length])


def test_cut_off_parquet_and_archives_that_lack_a_byte_are_refused():
    content = samples()["Parquet"]
    for length in range(4, len(content), 97):
        assert "is a damaged or cut-off Parquet file" in str(outcome(content[:length]))
    for form in ("zip", "XLSX", "ODS"):
        content = samples()[form]
        assert "damaged or cut off" in str(outcome(content[:4] + content[5:])), form


def test_files_without_a_name_are_left_out_of_archives():
    content = zipped({"x": b"a,b\n1,2\n"})
    central, end = content.index(b"PK\1\2"), content.index(b"PK\5\6")
    local = content[:26] + bytes(2) + content[28:30] + content[31:central]
    entry = content[central : central + 28] + bytes(2) + content[central + 30 : central + 46]
    places = len(entry).to_bytes(4, "little") + len(local).to_bytes(4, "little")
    nameless = local + entry + content[end : end + 12] + places + bytes(2)
    assert "is a zip archive without files" in str(outcome(nameless))


def half_a_class_label() -> bytes:
    features = {"label": {"_type": "ClassLabel", "names": ["\ud800", "b"]}}
    about = {"huggingface": json.dumps({"info": {"features": features}})}
    return parquet_bytes(pa.table({"item": ["a", "b"], "label": [0, 1]}).replace_schema_metadata(about))


LABEL_STUDIO = ["id", "annotator", "annotation_id", "lead_time"]
MTURK = ["HITId", "WorkerId", "Answer.taskAnswers", "AssignmentId", "Input.x", "AssignmentStatus"]
HALVES = {
    "Label Studio": csv_bytes([[*LABEL_STUDIO, "q"], ["1", "2", "3", "4", r'{"choices": ["\ud800"]}']]),
    "Mechanical Turk": csv_bytes([MTURK, ["1", "1", r'[{"q": {"\ud800": true}}]', "1", "1", "Approved"]]),
    "Parquet": half_a_class_label(),
}


@pytest.mark.parametrize("form", list(HALVES))
def test_halves_of_characters_inside_cells_are_read(form):
    table = outcome(HALVES[form])
    assert isinstance(table, Table)
    assert any("\ufffd" in value for column in table.columns for value in table.distinct(column))


@pytest.mark.parametrize("form", ["CSV", "XLSX", "ODS"])
def test_repeated_names_are_numbered_in_every_format(form):
    rows = [["item", "label", "item"], ["1", "2", "3"]]
    write = {"CSV": csv_bytes, "XLSX": xlsx_bytes, "ODS": lambda rows: ods_bytes({"S": ods_rows(rows)})}
    assert outcome(write[form](rows)).columns == ("item", "label", "item (2)")
