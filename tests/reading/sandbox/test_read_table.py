"""Files and data frames become text, unchanged; what cannot be read is refused in a sentence."""

import bz2
import csv
import datetime
import gzip
import hashlib
import io
import json
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.model.errors import DataError
from grasp_core.notebook.data import frame_table
from grasp_core.reading.archives import containers
from grasp_core.reading.sandbox import read as tables
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.columns import compact
from tests.reading.making import csv_bytes, messages, parquet_bytes, read_here, refusal_of, written
from tests.strategies import AWKWARD
from tests.zips import zipped


def refusal(content: bytes, *parts: str) -> str:
    return refusal_of(lambda: read_table(content, "votes.csv"), "votes.csv", *parts)


def cells(content: bytes) -> list[list[str]]:
    return written(read_table(content))


def test_parquet_values_become_the_text_of_a_csv_with_class_labels():
    columns = {
        "whole": [7, None],
        "real": [1.0, 0.5],
        "id": [296708581782793.0, None],
        "nan": [float("nan"), 2.0],
        "truth": [True, False],
        "kind": pa.array(["a", None]).dictionary_encode(),
        "list": [[1], [2]],
    }
    content = parquet_bytes(pa.table(columns))
    assert cells(content) == [
        ["whole", "real", "id", "nan", "truth", "kind"],
        ["7", "1", "296708581782793", "", "True", "a"],
        ["", "0.5", "", "2", "False", ""],
    ]
    table = read_table(content, "x.csv")
    assert (table.kind, table.row(0)) == ("Parquet", 1)
    (problem,) = table.problems
    assert not problem.stops
    assert "'list'" in problem.message
    info = {"info": {"features": {"label": {"names": ["no", "yes"], "_type": "ClassLabel"}}}}
    data = pa.table({"label": pa.array([1, 0, None, -1]), "id": ["1", "2", "3", "4"]})
    content = parquet_bytes(data.replace_schema_metadata({"huggingface": json.dumps(info)}))
    assert read_table(content).head(9)["label"].tolist() == ["yes", "no", "", ""]


HEAD, ROWS = ["item", "rater", "label"], [["i,1", "a", "yes"], ["i,2", "b", "no"]]
BY_SEMICOLONS = b"item;rater;label\ni,1;a;yes\ni,2;b;no\n"
TWO = [["a", "b"], ["1", "2"], ["3", "4"]]


@pytest.mark.parametrize(
    ("content", "read", "lines", "kind"),
    [
        *(
            (end.join([b"a,b", b"1,2", b"", b"3,4", last]), TWO, [2, 4], "CSV")
            for end in (b"\n", b"\r\n", b"\r")
            for last in (b"", b"\n")
        ),
        (b'a,b\n"one\ntwo",2\n\n3,4\n', [["a", "b"], ["one\ntwo", "2"], ["3", "4"]], [2, 5], "CSV"),
        (b'a,b\n5" pipe,2\n3,4" x\n', [["a", "b"], ['5" pipe', "2"], ["3", '4" x']], [2, 3], "CSV"),
        (b"a\tb\n1, 2\t3\n4\t5, 6, 7\n", [["a", "b"], ["1, 2", "3"], ["4", "5, 6, 7"]], [2, 3], "TSV"),
        (b"\xef\xbb\xbfa,b\n1,2\n3,4\n", TWO, [2, 3], "CSV"),
        (gzip.compress(b"a,b\n1,2\n3,", mtime=0) + gzip.compress(b"4\n", mtime=0), TWO, [2, 3], "CSV, gzip"),
        (b"a,b\n1,2,,\n3,4,,\n", TWO, [2, 3], "CSV"),
        (BY_SEMICOLONS, [HEAD, *ROWS], [2, 3], "CSV, semicolons"),
        (BY_SEMICOLONS.replace(b";", b"|"), [HEAD, *ROWS], [2, 3], "CSV, bars"),
        (BY_SEMICOLONS.replace(b";", b"\t"), [HEAD, *ROWS], [2, 3], "TSV"),
        *(
            (told + BY_SEMICOLONS, [HEAD, *ROWS], [3, 4], "CSV, semicolons")  # as Excel is told
            for told in (b"sep=;\n", b'"sep=;"\r\n', b"SEP=;\n")
        ),
        (b"# made 2026\n#\r\na,b\n1,2\n3,4\n", TWO, [4, 5], "CSV"),
        (b"# of\n#,b\n1,2\n3,4\n", [["#", "b"], *TWO[1:]], [3, 4], "CSV"),
        (b"#x,#b\n#y,2\n#z,4\n", [["#x", "#b"], ["#y", "2"], ["#z", "4"]], [2, 3], "CSV"),
    ],
)
def test_cells(content, read, lines, kind):
    table = read_table(content)
    assert written(table) == read
    assert [table.row(at) for at in range(len(table))] == lines
    assert table.kind == kind


def test_comments_above_the_header_are_left_out_and_told():
    said = messages(read_table(b"# made, 2026\n# by X\na,b,c\n1,2,3\n4,5,6\n", "votes.csv"))
    assert said.endswith("taken from row 3; 2 rows above it, the first with '# made, 2026', left out")


def test_paths_bytes_and_files_read_alike_with_the_fingerprint_of_the_file(tmp_path):
    content = gzip.compress(b"a,b\n1,2\n")
    table = read_table(content, "folder/votes.csv.gz")
    assert table.sha256 == hashlib.sha256(content).hexdigest()
    assert (table.bytes, table.name) == (len(content), "votes.csv.gz")
    assert read_table(content, r"C:\data\votes.csv").name == "votes.csv"
    path = tmp_path / "votes.csv"
    path.write_bytes(b"a,b\n1,2\n")
    with path.open("rb") as file:
        read = [read_table(path), read_table(str(path)), read_table(path.read_bytes()), read_table(file)]
    assert len({table.sha256 for table in read}) == 1
    assert read[0].name == "votes.csv"


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


@given(
    st.integers(2, 4).flatmap(
        lambda width: st.lists(st.tuples(*[CELL] * width).filter(any), min_size=1, max_size=6)
    ),
    st.sampled_from(",\t"),
)
def test_whatever_is_written_is_read(rows, delimiter):
    header = [f"column {index}" for index in range(len(rows[0]))]
    table = read_table(csv_bytes([header, *rows], delimiter))
    assert table.head(1000).to_numpy().tolist() == [list(row) for row in rows]


DELIMITERS = {"CSV": ",", "TSV": "\t", "CSV, semicolons": ";", "CSV, bars": "|"}


@given(st.binary(max_size=60) | st.text('ab,\t;"\n\r ', max_size=40).map(str.encode))
def test_any_bytes_are_read_or_refused(content):
    try:
        table = read_here(content, "x.csv")
    except DataError as error:
        refused = str(error)
    else:
        refused = "x.csv"
        if table.kind not in DELIMITERS:
            return  # in another encoding, see test_other_encodings
        text = io.StringIO(content.decode("utf-8-sig"), newline="")
        rows = [row for row in csv.reader(text, delimiter=DELIMITERS[table.kind]) if any(row)]
        assert table.head(1000).to_numpy().tolist() == rows[1:]
    assert "x.csv" in refused


# What is refused
def test_paths_that_cannot_be_read(tmp_path):
    for path, said in (
        (tmp_path / "no.csv", r"no\.csv does not exist"),
        (tmp_path, "is a folder without files"),
        (tmp_path / ("x" * 300), "cannot be read"),
    ):
        with pytest.raises(DataError, match=said):
            read_table(path)


def test_files_without_rows_or_columns_are_refused():
    for content in (b"", b" \n\n", b"\xef\xbb\xbf", gzip.compress(b"")):
        refusal(content, "is empty")
    for content in (b"a,b", b"a,b\n", b"a,b\r\n\r\n", b'"a","b"\n', b'a" x,b\n'):
        refusal(content, "row 1", "no rows")
    refusal(parquet_bytes({"a": pa.array([], pa.string())}), "no rows")
    refusal(b"label\nYes\nNo\n", "'label'", "commas, tabs, semicolons or vertical bars")
    refusal(parquet_bytes({"a": [[1]]}), "without a column of text")
    refusal(b"a," * 100_000 + b"b\n" + b"1," * 100_000 + b"2\n", "row 1: 100,001 columns", "at most 20,000")


def test_rows_that_are_no_rows_are_refused():
    for row, fields in (("5,6,7", "3 fields"), ("5", "1 field")):
        for stray in ("", 'x,5" pipe\n'):
            content = f"a,b\n1,2\n\n{row}\n{stray}{row}\n".encode()
            refusal(content, "row 4", f"{fields} found, the header names 2", "1 more row")
    title = b"Export of 2024\nProject: toxicity\n\nitem,rater,label\n1,a,yes\n1,b,no\n"
    refusal(title, "a table seems to begin in row 4; remove what stands above it")
    refusal(b"a,b\n1,2\n" + b"x" * 17_000_000, "row 3: a line of more than 16,777,216 bytes")
    assert len(refusal(b'"' + b"long\n" * 100 + b'"\n1\n')) < 200  # in messages


def test_bytes_that_are_no_text_are_refused():
    latin = "item,label\n1,naïve\n2,caf".encode() + b"\xe9\n"
    refusal(latin, "row 3: byte 0xE9 ('é' in Latin-1) is not UTF-8 text", "one encoding")
    refusal(b"\xef\xbb\xbfa,b\n1,\xe9\n", "row 2")
    refusal(b"a,b\n1,2\n3,\x004\n", "row 3: a NUL byte")
    refusal(b'[{"item": 1, "label"', "not JSON")
    not_utf_8 = pa.array([b"\xff"], pa.binary()).view(pa.string())
    refusal(parquet_bytes({"a": not_utf_8, "b": ["x"]}), "damaged")


def test_quotation_marks_that_open_or_close_nothing_are_refused():
    refusal(b'a,b\n1,2\n3,"4\n5,6\n', "row 3", "never closed")
    refusal(b'a,b\n1,2\n3,"4\n5,"6"\n', "row 3", "text follows")
    refusal(b'a,b\n1,2\n"3"x,4\n', "row 3", "text follows")
    refusal(b'a,b\n1,2\n3,"' + b"4\n5,6\n" * 40_000, "row 3", "open quote")


def test_damaged_files_are_refused():
    packed = gzip.compress(csv_bytes([[text, text] for text in AWKWARD] * 50), mtime=0)
    for content in (packed[:-12], packed[:4], packed[:12] + b"\xff" * 20 + packed[32:]):
        refusal(content, "gzip")
    parquet = parquet_bytes({"a": ["1", "2"], "b": ["x", "y"]})
    for content in (parquet[:-12], parquet[:4], parquet[:10] + parquet[40:]):
        refusal(content, "Parquet")
    for content in (ZIPPED[:-12], ZIPPED[:40] + b"\xff" * 9 + ZIPPED[49:]):
        refusal(content, "zip")
    refusal(gzip.compress(gzip.compress(b"a,b\n1,2\n")), "gzip inside gzip")


ZIPPED = zipped({"votes.csv": b"a,b\n1,2\n" * 99})


@pytest.mark.parametrize(
    ("encoding", "text", "kind"),
    [
        ("cp1252", "1,ja\n2,café – ok\n", "CSV, Windows-1252"),
        ("latin-1", "1,é\n", "CSV, Windows-1252"),
        ("latin-1", "1,køn\n2,alder\n", "CSV, Windows-1252"),  # which may be Big5, too
        ("cp1250", "1,Příliš žluťoučký kůň úpěl ďábelské ódy\n" * 3, "CSV, Windows-1250"),
        ("cp1251", "1,Нет, это неправда\n".replace(", ", " ") * 3, "CSV, Windows-1251"),
        ("shift_jis", "1,いいえ、違います\n2,はい\n" * 3, "CSV, cp932"),
        ("gb18030", "1,否这是一个句子\n2,是\n" * 3, "CSV, gb18030"),
        ("utf-16", "1,ja\n2,café\n", "CSV, UTF-16"),
        ("utf-16-le", "1,ja\n2,cafe\n", "CSV, UTF-16"),
        ("utf-8-sig", "1,ja\n2,café\n", "CSV"),
    ],
)
def test_other_encodings(encoding, text, kind):
    content = ("item,label\n" + text).encode(encoding)
    table = read_table(content)
    assert cells(content) == [["item", "label"], *(line.split(",") for line in text.splitlines())]
    assert table.kind == kind
    noted = any("not UTF-8" in problem.message for problem in table.problems)
    assert noted == ("Windows" in kind or kind in ("CSV, cp932", "CSV, gb18030"))


@pytest.mark.parametrize("name", ["gzip", "zstd", "bz2"])
def test_compressed_files(name):
    packed = {"gzip": gzip.compress, "bz2": bz2.compress}
    content = packed.get(name, lambda raw: pa.compress(raw, "zstd", asbytes=True))(b"a,b\n1,2\n")
    assert cells(content) == [["a", "b"], ["1", "2"]]
    assert read_table(content).kind == f"CSV, {name}"
    assert re.search("ends too early|damaged", refusal(content[:-3]))


def test_an_archive_offers_its_files_and_may_begin_with_what_is_no_table():
    table = read_table(ZIPPED)
    assert (table.kind, table.members, table.member, len(table)) == ("CSV, zip", (), None, 99)
    refusal(zipped({"README.txt": b"Nothing here."}), "only one column")
    readme = b"How to read the file beside this one."
    content = zipped({"README.txt": readme, "votes.csv": b"a,b\n1,2\n", "raters.tsv": b"c\td\n3\t4\n"})
    first, second = read_table(content), read_table(content, member="raters.tsv")
    assert (first.member, first.columns) == ("votes.csv", ("a", "b"))
    assert first.members[-2:] == ("votes.csv", "raters.tsv")
    assert (second.member, second.columns) == ("raters.tsv", ("c", "d"))
    with pytest.raises(DataError, match=r"no file 'x'; its files are .*'votes\.csv'"):
        read_table(content, member="x")
    with pytest.raises(DataError, match="no sheets"):
        read_table(b"a,b\n1,2\n", member="x")


@pytest.mark.parametrize(
    ("row", "rows", "last"),
    [(b"1" * 90, 400_000, b"x,2\n"), (b"1", 10_000, b'1"2,2\n')],  # a stray quotation mark: row by row
)
def test_reading_can_be_watched_and_stopped(row, rows, last):
    content = b"a,b\n" + (row + b",2\n") * rows + last
    seen: list[tuple[int, int]] = []
    read_table(content, watch=lambda done, total: seen.append((done, total)))
    assert [total for _, total in seen] == [len(content)] * len(seen)
    assert len({done for done, _ in seen}) > 2

    def stop(done: int, total: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        read_table(content, watch=stop)


def test_a_folder_of_parquet_files(tmp_path):
    for name, values in (("part-0.parquet", ["1", "2"]), ("part-1.parquet", ["3"])):
        (tmp_path / name).write_bytes(parquet_bytes({"a": values, "b": values}))
    table = read_table(tmp_path)
    assert table.head(9)["a"].tolist() == ["1", "2", "3"]
    assert table.kind == "Parquet, 2 files"
    (tmp_path / "part-1.parquet").rename(tmp_path / "part-2.parquet")
    assert read_table(tmp_path).sha256 != table.sha256
    (tmp_path / "x.parquet").write_bytes(parquet_bytes({"c": ["1"]}))
    with pytest.raises(DataError, match="different columns"):
        read_table(tmp_path)


def test_bombs_and_large_files_stop_early(monkeypatch):
    zeros = bytes(2**22)
    texts = parquet_bytes({"a": ["x" * 100] * 100_000, "b": ["y"] * 100_000})
    packed = (zipped({"votes.csv": zeros}), gzip.compress(zeros), pa.compress(zeros, "zstd", asbytes=True))
    monkeypatch.setattr(containers, "MAX_BYTES", 100_000)
    monkeypatch.setattr(containers, "CHUNK", 1 << 16)
    for bomb in (*packed, texts):
        assert len(bomb) < 10_000
        refusal(bomb, "unpacks to more than")
    monkeypatch.setattr(tables, "MAX_BYTES", 10)
    refusal(b"a,b\n1,2\n3,4\n", "is larger than")


def test_columns_without_a_name_of_their_own_get_one_and_blanks_separate():
    table = read_table(b"item,,item,label, ,label\nx1,x2,x3,x4,x5,x6\n")
    assert table.columns == ("item", "column 2", "item (2)", "label", "column 5", "label (2)")
    codes = [problem.remark.code.key for problem in table.problems]
    assert codes == ["columns-unnamed", "columns-named-alike"]
    table = read_table(b",a,b\n0,1,2\n")
    assert table.columns == ("column 1", "a", "b")
    assert "first column has no name" in table.problems[0].message
    written_by_r = b'"item" "rater" "label"\n1 "a b" 3\n1 2 4\n2 "a b" 5\n'
    table = read_table(written_by_r)
    assert table.columns == ("item", "rater", "label")
    assert table.distinct("rater") == ("a b", "2")
    assert read_table(b"item  rater label\n   1      2     3\n  10      2     4\n").cell("item", 1) == "10"


# Data frames are read as files with their columns; columns whose texts recur are kept as codes.
ANY_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=6)
NAMES = st.lists(st.text("abcdefg_.é", min_size=1, max_size=4), min_size=1, max_size=4, unique=True)


def texts(frame: Any) -> dict[str, list[str]]:
    return frame_table(frame, "votes").frame().to_dict("list")


@given(st.data())
def test_texts_stay_and_all_libraries_give_the_same_table(data: st.DataObject) -> None:
    names, rows = data.draw(NAMES), data.draw(st.integers(1, 5))
    column = st.lists(st.none() | ANY_TEXT, min_size=rows, max_size=rows)
    held = {name: data.draw(column, label=name) for name in names}
    arrow = pa.table(held, pa.schema([pa.field(name, pa.string()) for name in names]))
    frames = [
        *(pd.DataFrame(held, dtype="str"), pd.DataFrame(held, dtype=object)),
        pl.DataFrame(held, schema=dict.fromkeys(names, pl.String)),
        *(arrow, pa.concat_tables([arrow.slice(0, 1), arrow.slice(1)])),
    ]
    tables = [frame_table(frame, "votes") for frame in frames]
    expected = {name: [text or "" for text in column] for name, column in held.items()}
    assert all(table.frame().to_dict("list") == expected for table in tables)
    assert len({(table.sha256, table.bytes) for table in tables}) == 1


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (["007", "7", None], ["007", "7", ""]),
        ([1.0, np.nan, 3.0], ["1", "", "3"]),
        ([0.5, np.nan, 3.0], ["0.5", "", "3"]),
        (pd.array([1, None, 3], dtype="Int64"), ["1", "", "3"]),
        ([True, False, True], ["True", "False", "True"]),
        (pd.array([True, None, False], dtype="boolean"), ["True", "", "False"]),
        (pd.Categorical(["b", None, "a"]), ["b", "", "a"]),
        (pd.Categorical([2, None, 1]), ["2", "", "1"]),
        (pd.cut([20, 50, np.nan], [0, 40, 60]), ["(0, 40]", "(40, 60]", ""]),
        ([1, "maybe", None], ["1", "maybe", ""]),
        ([2.0, "maybe", np.nan], ["2", "maybe", ""]),
        (["None", "nan", "NA"], ["None", "nan", "NA"]),
        ([datetime.date(2024, 5, 1), None, datetime.date(2024, 5, 2)], ["2024-05-01", "", "2024-05-02"]),
        ([2**70, None, 1], [str(2**70), "", "1"]),
    ],
)
def test_cells_of_every_kind_become_text(column: Any, expected: list[str]) -> None:
    assert texts(pd.DataFrame({"x": column})) == {"x": expected}


def test_columns_of_polars_have_the_same_texts() -> None:
    columns = {"n": [1, None], "f": [1.0, None], "c": pl.Series(["a", None], dtype=pl.Categorical)}
    columns |= {"e": pl.Series(["u", "v"], dtype=pl.Enum(["u", "v"])), "b": [True, None]}
    frame = pl.DataFrame(columns)
    expected = {"n": ["1", ""], "f": ["1", ""], "c": ["a", ""], "e": ["u", "v"], "b": ["True", ""]}
    assert texts(frame) == expected
    assert texts(frame.to_arrow()) == expected
    assert frame_table(frame, "votes").sha256 == frame_table(frame.to_arrow(), "votes").sha256


class ByProtocol:
    """What hands out its columns, and is no frame of a library that anybody knows."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


class ByInterchange:
    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __dataframe__(self, **options: Any) -> Any:
        return self._table.__dataframe__(**options)


class Broken:
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        raise OSError("the other end is gone")


@pytest.mark.parametrize("library", [ByProtocol, ByInterchange])
def test_any_library_that_hands_out_its_columns_will_do(library: Any) -> None:
    assert texts(library(pa.table({"x": ["007", None]}))) == {"x": ["007", ""]}


def test_names_become_text_and_the_hash_tells_them_apart() -> None:
    raters = pd.DataFrame({"race": ["a", "b"]}, index=pd.Index(["007", "8"], name="rater"))
    assert texts(raters) == {"rater": ["007", "8"], "race": ["a", "b"]}
    assert texts(raters.rename_axis(None)) == {"race": ["a", "b"]}
    assert texts(pd.DataFrame({0: ["a"], ("x", "y"): ["b"]})) == {"0": ["a"], "x.y": ["b"]}
    held = [
        *({"x": ["ab", "c"]}, {"x": ["a", "bc"]}, {"y": ["ab", "c"]}),
        *({"x": ["ab", "c"], "y": ["", ""]}, {"x": ["c", "ab"]}, {"x": ["ab", "c", ""]}),
    ]
    assert len({frame_table(pd.DataFrame(one), "votes").sha256 for one in held}) == len(held)


def test_columns_of_one_name_are_refused_where_only_names_tell_them_apart(tmp_path: Any) -> None:
    twice = pa.table([pa.array([at]) for at in (1, 2, 3)], names=["label", "item", "label"])
    pq.write_table(twice, tmp_path / "votes.parquet")
    for read in (
        lambda: read_table(tmp_path / "votes.parquet"),
        lambda: frame_table(twice, "votes.parquet"),
        lambda: frame_table(pd.DataFrame([[1, 2, 3]], columns=twice.column_names), "votes.parquet"),
    ):
        with pytest.raises(DataError, match=r"^votes\.parquet has several columns called 'label'; rename"):
            read()


def test_a_frame_is_read_as_the_parquet_file_that_it_makes(tmp_path: Any) -> None:
    lists = {"lists": [["r1", "r2"], ["r1", "r3"]], "of": [[1, 2], [2, 2]]}
    frame = pd.DataFrame({"item": ["a", "b"], "n": [1.0, np.nan], **lists})
    frame.to_parquet(tmp_path / "votes.parquet")
    file, read = read_table(tmp_path / "votes.parquet"), frame_table(frame, "votes")
    pd.testing.assert_frame_equal(read.frame(), file.frame())
    assert read.row(2) == file.row(2)


@pytest.mark.parametrize(
    ("frame", "code", "said"),
    [
        (3, "no-frame", "votes is of type builtins int; give a data frame"),
        ([1], "no-frame", "votes is of type builtins list"),
        (pd.DataFrame({"x": []}), "no-rows", "no rows"),
        (pd.DataFrame({"x": [1, {}, "a"]}), "cell-without-text", "votes, row 2, column 'x'"),
        (pd.DataFrame({"x": [b"raw"]}), "data", "without a column of text, numbers or dates"),
        (Broken(), "frame-not-read", "does not hand out its columns (OSError)"),
    ],
)
def test_what_is_no_table_is_refused_with_a_code(frame: Any, code: str, said: str) -> None:
    with pytest.raises(DataError) as refused:
        frame_table(frame, "votes")
    assert refused.value.code == code
    assert said in str(refused.value)


# Codes
MANY_ROWS = 600_000


@pytest.mark.parametrize(("texts", "coded"), [(60_000, True), (5, True), (MANY_ROWS, False)])
def test_ids_in_no_order_are_kept_as_codes_where_they_recur(texts: int, coded: bool) -> None:
    rng = np.random.default_rng(0)
    positions = rng.permutation(MANY_ROWS) if texts == MANY_ROWS else rng.integers(0, texts, MANY_ROWS)
    ids = pa.array(positions).cast(pa.string())
    kept = compact(pa.table({"id": pa.chunked_array([ids[: MANY_ROWS // 3], ids[MANY_ROWS // 3 :]])}))["id"]
    assert pa.types.is_dictionary(kept.type) == coded
    assert kept.num_chunks == 1
    assert kept.cast(pa.string()).combine_chunks().equals(ids)
