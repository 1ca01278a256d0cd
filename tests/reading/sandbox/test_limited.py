"""Any bytes give a table or a refusal, in processes of limited memory and time, and everything goes on."""

import contextlib
import gzip
import io
import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grasp_core.model.data_spec import Bins, Combine, DataSpec, Filters, MapValues
from grasp_core.model.errors import DataError, Problem
from grasp_core.model.json_values import from_json, to_json
from grasp_core.model.remarks.remark import said
from grasp_core.reading.dataset.votes import read_votes
from grasp_core.reading.sandbox import limits, process
from grasp_core.reading.sandbox.process import HELPER
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Recipe, Table
from tests.reading.exports import damaged
from tests.reading.files.workbook_files import changed, members_of, ods_bytes, ods_rows, xlsx_bytes
from tests.reading.making import csv_bytes, parquet_bytes, read_here, refusal_of, rows_table
from tests.reading.reader_samples import ROWS, outcome, samples
from tests.zips import zipped

pytestmark = pytest.mark.in_earnest
CSV = csv_bytes(ROWS)
MEMORY = "takes more than 0.25 GiB of memory, the most that one file may"


def refusal(content: bytes, name: str = "votes.bin") -> str:
    return refusal_of(lambda: read_table(content, name), name)


def parquet_bomb() -> bytes:
    return parquet_bytes(dict.fromkeys("abc", pa.array(np.zeros(40_000_000, np.int32))))


def big_sheet(rows: int = 40_000, columns: int = 1_000) -> bytes:
    """An ODS file of a few bytes whose one cell fills the rows and columns."""
    cell = f'<table:table-cell table:number-columns-repeated="{columns}" office:value-type="string">'
    row = f'<table:table-row table:number-rows-repeated="{rows}">{cell}<text:p>x</text:p></table:table-cell>'
    return ods_bytes({"S": row + "</table:table-row>"})


def wide_workbook(columns: int = 16_000, rows: int = 60) -> bytes:
    """A row of names, and one of texts over and over."""
    names = xlsx_bytes([[f"c{column}" for column in range(columns)]])
    row = "<row>" + '<c t="str"><v>x</v></c>' * columns + "</row>"
    return changed(names, "xl/worksheets/sheet1.xml", "</sheetData>", row * rows + "</sheetData>")


def shared_text() -> bytes:
    """A long text that many cells share."""
    content = xlsx_bytes([["long", "short"], *[["Yes", "y"]] * 1_000])
    content = changed(content, "xl/sharedStrings.xml", "<t>Yes</t>", "<t>" + "x" * 2**20 + "</t>")
    assert len(content) < 2**20
    return content


BOMBS = {
    "CSV, stray quote": lambda: b"a,b,c\n" + b"1,2,3\n" * 20_000_000 + b'x"y,2,3\n',
    "CSV, gzip": lambda: gzip.compress(b"a,b,c\n" + b"1,2,3\n" * 20_000_000, 1),
    "JSON": lambda: json.dumps([{"a": [[0] * 1_000] * 3_000, "b": 1}]).encode(),
    "JSON Lines": lambda: b'{"a": 1, "b": 2}\n' * 2_000_000,
    "Parquet": parquet_bomb,
    "ODS": big_sheet,
    "XLSX": wide_workbook,
    "XLSX, shared text": shared_text,
}


@pytest.mark.parametrize("form", list(BOMBS))
def test_what_takes_too_much_memory_is_told_in_a_sentence(form, monkeypatch):
    monkeypatch.setenv("GRASP_READ_MEMORY_MB", "256")
    message = refusal(BOMBS[form]())
    assert MEMORY in message or "GiB of memory, more than the 0.25 GiB" in message
    assert len(read_table(CSV, "votes.csv")) == len(ROWS) - 1


def test_memory_that_ends_anywhere_is_told(monkeypatch):
    """Where even a thread's stack does not fit, Arrow has no word of memory, and zip files seem closed.

    Now and then Arrow crashes; what may be the reason is told then.
    """
    stata = io.BytesIO()
    columns = {name: [f"{name} {row} of a longer text" for row in range(40_000)] for name in "abc"}
    workbook = xlsx_bytes([list(columns), *list(zip(*columns.values(), strict=True))[:10_000]])
    pd.DataFrame({name: cells * 4 for name, cells in columns.items()}).to_stata(stata, write_index=False)
    for content in (
        csv_bytes([list(columns), *zip(*columns.values(), strict=True)]),
        parquet_bytes(columns),
        workbook,
        stata.getvalue(),
    ):
        for megabytes in range(30, 130, 18):
            monkeypatch.setenv("GRASP_READ_MEMORY_MB", str(megabytes))
            assert "GiB of memory" in refusal(content)


def test_what_takes_too_much_time_is_told_in_a_sentence(monkeypatch):
    monkeypatch.setenv("GRASP_READ_SECONDS", "1")
    assert "takes more than 1 seconds of processor time" in refusal(BOMBS["ODS"]())


@pytest.mark.parametrize("form", list(samples()))
def test_a_table_comes_over_as_it_was_parsed(form):
    here, there = (read(samples()[form], "votes.bin") for read in (read_here, read_table))
    assert there.data.equals(here.data)
    assert there.data.schema == here.data.schema
    assert (len(there), there.columns) == (len(ROWS) - 1, tuple(ROWS[0]))
    assert [there.row(at) for at in range(len(there))] == [here.row(at) for at in range(len(here))]
    same = ("sha256", "bytes", "kind", "first_row", "problems", "recipe", "members", "member")
    assert [getattr(there, name) for name in same] == [getattr(here, name) for name in same]


def test_recipes_and_problems_come_over():
    recode = (
        *(MapValues(None, (("a", "b"),)), Bins("age", (18.0, 30.5), ("a", "b", "c"))),
        Combine(("q", "r"), ("x", "y"), "z"),
    )
    filters = Filters(drop=(("a", "b"),), gold="g", min_gold=0.5, raters=("x",))
    spec = DataSpec(item="i", rater="r", label="l", filters=filters, recode=recode)
    recipe = Recipe("tool", spec, (("a",), ("a", "b")), True, ("NA",), ("done",))
    problems = (Problem(False, said("é \ud800"), 3, ("a",), "axis"),)
    assert from_json(json.loads(json.dumps(to_json(recipe))), Recipe) == recipe
    assert from_json(json.loads(json.dumps(to_json(problems))), tuple[Problem, ...]) == problems
    with pytest.raises(TypeError):
        json.dumps(to_json({"content": b"x"}))


def test_refusals_come_over_with_their_problems():
    with pytest.raises(DataError) as here:
        read_here(b",\n1,2\n", "votes.csv")
    with pytest.raises(DataError) as there:
        read_table(b",\n1,2\n", "votes.csv")
    assert str(there.value) == str(here.value)
    assert there.value.problems == here.value.problems
    assert [problem.remark.code.key for problem in here.value.problems] == ["no-column-named"]


SLOW = b"a,b\n" + b"1,2\n" * 10_000_000 + b'x"y,2\n'


def children() -> list[int]:
    (helper,) = _helpers()
    return [int(pid) for pid in Path(f"/proc/{helper}/task/{helper}/children").read_text().split()]


def _helpers() -> list[int]:
    """Those that read files; the same process may have one that makes files too."""
    own: list[str] = []
    for one in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # a thread that has just ended
            own += (one / "children").read_text().split()
    told = {int(child): Path(f"/proc/{child}/cmdline").read_text() for child in own}
    readers = ("sandbox/process.py", "reading.guess.tables")
    return [child for child, line in told.items() if all(part in line for part in readers)]


def in_thread(told: list[object], stop=None, begun=None, watched=lambda: None) -> threading.Thread:
    """A reading of the slow file."""

    def watch(done: int, _total: int) -> None:
        watched()
        if done and begun is not None:
            begun.set()
        if stop is not None and stop.is_set():
            raise InterruptedError

    def work() -> None:
        try:
            told.append(len(read_table(SLOW, "votes.csv", watch=watch)))
        except Exception as error:
            told.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def until(true: Callable[[], object], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    assert true()


@pytest.fixture
def _linux() -> None:
    if not Path("/proc/self/task").is_dir():
        pytest.skip("looks at processes under /proc")
    read_table(CSV)
    until(lambda: not children())


@pytest.mark.usefixtures("_linux")
@pytest.mark.parametrize(
    ("end", "sentence"),
    [
        (signal.SIGKILL, "of memory"),  # who else kills a child than the system, for want of memory
        (signal.SIGSEGV, "the program that reads this format failed on it"),
    ],
)
def test_a_child_that_is_killed_or_crashes_is_told_and_the_next_file_is_read(end, sentence):
    told: list[object] = []
    begun = threading.Event()
    thread = in_thread(told, begun=begun)
    until(begun.is_set)  # a child that ends before it has begun is replaced
    os.kill(children()[0], end)
    thread.join()
    assert sentence in str(told[0])
    assert len(read_table(CSV)) == len(ROWS) - 1


@pytest.mark.usefixtures("_linux")
def test_a_cancelled_reading_ends_its_child():
    told: list[object] = []
    stop = threading.Event()
    thread = in_thread(told, stop)
    until(children)
    stop.set()
    thread.join(timeout=5)
    assert isinstance(told[0], InterruptedError)
    until(lambda: not children())


@pytest.mark.usefixtures("_linux")
def test_two_files_are_read_at_a_time_and_others_wait():
    told: list[object] = []
    stop = threading.Event()
    calls = Counter[int]()
    slow = [in_thread(told, stop, watched=partial(calls.update, [at])) for at in range(3)]
    until(lambda: min(calls[at] for at in range(3)) > 2)  # the one that waits is asked too whether to go on
    assert len(children()) == 2
    stop.set()
    for thread in slow:
        thread.join()
    assert [type(found) for found in told] == [InterruptedError] * 3


@pytest.mark.usefixtures("_linux")
def test_a_helper_that_died_is_started_again():
    read_table(CSV)
    (before,) = _helpers()
    os.kill(before, signal.SIGKILL)
    assert len(read_table(CSV)) == len(ROWS) - 1
    (after,) = _helpers()
    assert after != before


@pytest.mark.usefixtures("_linux")
def test_the_helper_has_one_thread_and_none_of_the_secrets(monkeypatch):
    monkeypatch.setenv("GRASP_COOKIE_SECRET", "x" * 40)
    HELPER.close()
    read_table(CSV)
    (helper,) = _helpers()
    assert len(list(Path(f"/proc/{helper}/task").iterdir())) == 1
    assert b"GRASP_" not in Path(f"/proc/{helper}/environ").read_bytes()


def test_limits_come_from_the_machine_or_a_setting(monkeypatch, tmp_path):
    monkeypatch.delenv("GRASP_READ_MEMORY_MB", raising=False)
    whole = limits.machine_memory()
    assert limits.current_limits() == limits.Limits(whole // 3, 120)
    (tmp_path / "memory.max").write_text(f"{whole // 2}\n")
    assert limits.machine_memory(tmp_path) == whole // 2
    (tmp_path / "memory.max").write_text("max\n")
    assert limits.machine_memory(tmp_path) == whole
    monkeypatch.setenv("GRASP_READ_MEMORY_MB", "7")
    assert limits.current_limits().memory == 7 * 2**20


def test_too_many_cells_and_ids_are_refused_before_they_are_taken_apart(monkeypatch):
    columns = [f"r{at}" for at in range(300)]
    table = rows_table([["item", *columns], *([f"i{at}", *["1", "2"] * 150] for at in range(300))])
    spec = DataSpec(layout="items-by-raters", item="item")
    monkeypatch.setenv("GRASP_READ_MEMORY_MB", "16")
    assert len(read_votes(table, spec).row) == 90_000
    monkeypatch.setenv("GRASP_READ_MEMORY_MB", "8")
    with pytest.raises(DataError, match="holds 90,000 cells, which would take about"):
        read_votes(table, spec)
    content = "item,rater,label\n" + "".join(f"i{at},r,x\n" for at in range(1_100_000))
    monkeypatch.setenv("GRASP_READ_MEMORY_MB", "280")
    message = refusal(content.encode())
    assert "holds 1,100,000 rows, which would take" in message or "GiB of memory, the most" in message


def test_processes_find_the_package_where_it_is_not_installed() -> None:
    assert (process.ROOT / "grasp_core" / "__init__.py").is_file()


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
    assert refusal(big_sheet(rows, columns))


# Whatever bytes are read: a table, or a refusal that names the file, in bounded time, and nothing else.
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


@pytest.mark.parametrize("form", [form for form in samples() if form not in ("XLSX", "ODS")])  # zip archives
def test_every_cut_off_file(form):
    content = samples()[form]
    for length in range(0, len(content), max(1, len(content) // settings().max_examples)):
        outcome(content[:length])


def test_archives_and_parquet_that_lack_bytes_or_names_are_refused():
    content = samples()["Parquet"]
    for length in range(4, len(content), 97):
        assert "is a damaged or cut-off Parquet file" in str(outcome(content[:length]))
    for form in ("zip", "XLSX", "ODS"):
        content = samples()[form]
        assert "damaged or cut off" in str(outcome(content[:4] + content[5:])), form
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
