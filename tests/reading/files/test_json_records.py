"""JSON becomes records and tables of text; what is no table is refused in a sentence."""

import json
import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.model.errors import DataError
from grasp_core.model.remarks.problems import FileProblem
from grasp_core.reading.files import json_files as json_records
from grasp_core.reading.table import parsed
from tests.reading.making import read_here, refusal_of, written

VOTES = [["item", "label"], ["i1", "Yes"], ["i2", "No"]]
RECORDS = '[{"item": "i1", "label": "Yes"}, {"item": "i2", "label": "No"}]'


def cells(content: str | bytes) -> list[list[str]]:
    return written(read_here(content if isinstance(content, bytes) else content.encode(), "votes.json"))


def refusal(content: str) -> str:
    return refusal_of(lambda: read_here(content.encode(), "votes.json"), "votes.json")


@pytest.mark.parametrize(
    "content",
    [
        RECORDS,
        '\n\n  [{"item": "i1", "label": "Yes"},\r\n {"item": "i2", "label": "No"}]\n',
        '{"item": "i1", "label": "Yes"}\n{"item": "i2", "label": "No"}',
        '{"item": "i1", "label": "Yes"}\r\n\r\n  {"item": "i2", "label": "No"}\r\n',
        '{"item": ["i1", "i2"], "label": ["Yes", "No"]}',
        f'{{"data": {RECORDS}}}',
        f'{{"version": 3, "tags": ["a"], "data": {RECORDS}}}',
        '{"item": {"0": "i1", "1": "i2"}, "label": {"0": "Yes", "1": "No"}}',
        '{"columns": ["item", "label"], "index": [0, 1], "data": [["i1", "Yes"], ["i2", "No"]]}',
    ],
    ids=["list", "spaces", "lines", "lines, CRLF", "columns", "in data", "in data, more", "pandas", "split"],
)
def test_shapes(content):
    assert cells(content) == VOTES


@pytest.mark.parametrize("orient", ["records", "columns", "split"])
def test_what_pandas_writes(orient):
    frame = pd.DataFrame([["i1", 1, None], ["i2", 2, 0.5]], columns=["item", "n", "x"])
    expected = [["item", "n", "x"], ["i1", "1", ""], ["i2", "2", "0.5"]]
    assert cells(frame.to_json(orient=orient)) == expected


def test_objects_become_columns_or_rows_and_lists_their_json_text():
    content = '{"i1": {"label": "Yes"}, "i2": {"label": "No", "age": 3}}'
    assert cells(content) == [["key", "label", "age"], ["i1", "Yes", ""], ["i2", "No", "3"]]
    expected = [["_key", "a", "key"], ["i1", "1", ""], ["i2", "", "2"]]
    assert cells('{"i1": {"a": 1}, "i2": {"key": 2}}') == expected
    assert cells('{"item": "i1", "label": "Yes"}') == VOTES[:2]
    content = '[{"a": {"b": {"c": 1}, "d": 2}}, {"a": {"e": 3}, "f": 4}]'
    assert cells(content) == [["a.b.c", "a.d", "a.e", "f"], ["1", "2", "", ""], ["", "", "3", "4"]]
    assert cells('[{"a": 1}, {"a": {"b": 2}}]') == [["a", "a.b"], ["1", ""], ["", "2"]]
    content = '[{"a": [1, 2.50, "x\\n\\u00e9", null, true, {"b": []}], "c": []}]'
    assert cells(content)[1] == ['[1, 2.50, "x\\né", null, true, {"b": []}]', "[]"]


def test_values_are_the_text_of_the_file_in_any_encoding():
    content = '[{"a": 007e0, "b": 1}]'.replace("007e0", "1.50e2")
    assert cells(content) == [["a", "b"], ["1.50e2", "1"]]
    many = "9" * 10_000
    found = cells(f'[{{"a": {many}, "b": -0.0, "c": 12345678901234567890.10}}]')[1]
    assert found == [many, "-0.0", "12345678901234567890.10"]
    content = '[{"a": true, "b": false, "c": null, "d": NaN, "e": -Infinity, "f": ""}]'
    assert cells(content)[1] == ["True", "False", "", "", "-Infinity", ""]
    content = r'[{"a": "\ud83d\ude00", "b": "x\ud83d", "c": "\ude00x", "d": "\\ud800"}]'
    assert cells(content) == [["a", "b", "c", "d"], ["😀", "x\ufffd", "\ufffdx", r"\ud800"]]
    assert cells(r'[{"\ud800": "\uD83D\uD83D\uDE00"}]') == [["\ufffd"], ["\ufffd😀"]]
    assert cells('{"a": "\\udfff"}\n{"a": "\\\\\\udfff"}')[1:] == [["\ufffd"], ["\\\ufffd"]]
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        assert cells('[{"a": "é", "b": "1"}]'.encode(encoding)) == [["a", "b"], ["é", "1"]]


def test_fields_that_are_there_twice_or_too_many_are_refused(monkeypatch):
    both = refusal('[{"a": 1}, {"a": {"b": 1}, "a.b": 2}]')
    assert "record 2: both a field and a nested one become the column 'a.b'" in both
    assert "votes.json: an object has the field 'a' twice" in refusal('[{"a": 1, "b": 2, "a": 1}]')
    assert "row 2: an object has the field 'a' twice" in refusal('{"a": 1}\n{"a": 1, "a": 1}')
    fields = {f"field {count}": count for count in range(20_001)}
    said = "20,001 columns were found, at most 20,000 are read"
    assert said in refusal(json.dumps([fields]))
    assert said in refusal(json.dumps([{name: count} for name, count in fields.items()]))
    monkeypatch.setattr(json_records, "MAX_WRITTEN", 100)
    records = json.dumps([{f"field {count}": count} for count in range(20)])
    assert "20 records with 20 different fields are more than 100 cells" in refusal(records)
    monkeypatch.setattr(json_records, "MAX_VALUES", 10)
    assert "is JSON of about 40 values, at most 10 are read" in refusal(records)
    monkeypatch.setattr(json_records, "MAX_JSON_BYTES", 10)
    assert "is JSON of more than 0 MiB" in refusal(records)


def test_columns_may_appear_late_and_wide_tables_are_formed_a_few_rows_at_a_time(monkeypatch):
    content = "\n".join(f'{{"a": {row}}}' for row in range(3_000)) + '\n{"b": "late", "a": 1}'
    table = read_here(content.encode(), "votes.json")
    assert table.columns == ("a", "b")
    assert table.distinct("b") == ("", "late")
    rows = [[str(row), "x", str(row % 3)] for row in range(100)]
    whole = parsed.from_rows(["a", "b", "c"], rows)
    monkeypatch.setattr(parsed, "CELLS_AT_ONCE", 12)
    assert parsed.from_rows(["a", "b", "c"], rows).to_pylist() == whole.to_pylist()


def test_deep_nesting_is_refused():
    for content in (
        "[" * 50_000 + "]" * 50_000,
        '[{"a": ' + "[" * 101 + "]" * 101 + "}]",
        '{"a": ' * 500 + "1" + "}" * 500,
        '{"a": 1}\n{"a": ' + "[" * 101 + "]" * 101 + "}",
    ):
        assert "nested more than 100 deep" in refusal(content)
    for unfinished in ("[" * 50_000, '{"a": 1}\n{"a": ' + "[" * 50_000):  # Python 3.14 reads on to its end
        assert any(said in refusal(unfinished) for said in ("nested more than 100 deep", "is not JSON"))
    assert cells('[{"a": ' + "[" * 90 + "]" * 90 + "}]")[1] == ["[" * 90 + "]" * 90]
    deep = cells('{"a": ' * 90 + "1" + "}" * 90)
    assert deep in ([["key", *deep[0][1:]], deep[1]], [[".".join("a" * 90)], ["1"]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"a": 1},\n {"a": 2]', "row 2: this is not JSON (expecting ',' delimiter, at character 9)"),
        ('\n\n[{"a": 1},\n {"a" 2}]', "row 4: this is not JSON"),
        ('{"a": 1}\n{"a": 2\n{"a": 3}', "row 2: this is not JSON"),
        ('{"a": 1}\n\n"text"', "row 3: '\"text\"' is no object"),
        ('{"a": 1}\n[1, "x"]', "row 2: '[1, \"x\"]' is no object"),
        ('{"a": 1}\n{"a": 2} {"a": 3}', "row 2: '{\"a\": 3}' follows the object"),
        ('[{"a": 1}] and more', "row 1: 'and more' follows the object"),
        ("[1, 2]", "record 1: '1' is no object"),
        ('[{"a": 1}, ["b"]]', "record 2: '[\"b\"]' is no object"),
        ("[]", "is JSON without records"),
        ("{}", "is JSON without records"),
        ("[{}]", "is JSON without records"),
        ('{"data": []}', "is JSON without records"),
        ('[{"a": {}}]', "no rows"),
        ('[{"a": "\\ud8zz"}]', "this is not JSON"),
        ('[{"a": "x', "unterminated string"),
        ('{"columns": ["a", "b"], "index": [0], "data": [["x"]]}', "record 1: '[\"x\"]' is no list of 2"),
    ],
)
def test_what_is_no_table_is_refused(content, message):
    assert message in refusal(content)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.dictionaries(st.text(st.characters(codec="utf-8"), min_size=1, max_size=4), VALUES, max_size=4)


@given(st.lists(FIELDS), st.booleans())
def test_any_records_become_a_table_or_are_refused(records, lines):
    content = "\n".join(map(json.dumps, records)) if lines and len(records) > 1 else json.dumps(records)
    try:
        table = read_here(content.encode(), "votes.json")
    except DataError:
        assert refusal(content)
        return
    described = sum(one.remark.code == FileProblem.ROW_OF_DESCRIPTIONS for one in table.problems)
    assert len(table) + described == len(records)
    for column in table.columns:
        table.column(column)


def mended(value: object) -> object:
    """The value with what JSON text cannot hold replaced as reading does: NaN, and halves of characters."""
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [mended(inner) for inner in value]
    return {mended(key): mended(inner) for key, inner in value.items()} if isinstance(value, dict) else value


@given(VALUES.filter(lambda value: isinstance(value, list | dict)))
def test_text_of_lists_and_objects_is_their_json(value):
    (record,), _ = json_records.records(json.dumps([{"a": value}]).encode(), "votes.json")
    assert json.loads(json_records.text(record["a"])) == mended(value)


@pytest.mark.parametrize(("beside", "name", "n"), [({"version": 1}, "task_id", 3), ({"id": 7}, "place", 1)])
def test_a_list_holds_the_records_where_its_objects_name_their_items(beside, name, n) -> None:
    entries = [{name: at, "user": "abc"[at], "answer": "x"} for at in range(3)]
    content = json.dumps({**beside, "annotations": entries}).encode()
    assert len(json_records.records(content, "a.json")[0]) == n
