"""Files of shapes that make careless reading slow, of any size; the fuzzer starts from small ones."""

import bz2
import gzip
import io
import json
from collections.abc import Callable

import xlsxwriter

from tests.reading.files.workbook_files import changed, ods_bytes, ods_rows, xlsx_bytes
from tests.reading.making import parquet_bytes
from tests.zips import zipped

Shape = Callable[[int], bytes]


def lines(count: int, line: Callable[[int], str], header: str = "item,rater,label") -> bytes:
    return "\n".join([header, *map(line, range(count)), ""]).encode()


def objects(count: int, record: Callable[[int], object]) -> bytes:
    return json.dumps([record(at) for at in range(count)]).encode()


def one_object(fields: dict[str, object]) -> bytes:
    return json.dumps([fields, fields]).encode()


def nested(depth: int, inner: str) -> str:
    return '{"a": ' * depth + inner + "}" * depth


def repeated_fields(count: int) -> bytes:
    return ("[{" + ", ".join(f'"f{at}": 1' for at in range(count)) + ', "f0": 1}]').encode()


def column_clash(count: int) -> bytes:
    return one_object({**{f"f{at}": 1 for at in range(count)}, "a.b": 1, "a": {"b": 2}})


def xlsx_with(comment: str, member: str = "xl/worksheets/sheet1.xml") -> bytes:
    """A workbook with a comment in one of its files."""
    return changed(xlsx_bytes([["a", "b"], ["1", "2"]]), member, "?>", f"?><!-- {comment} -->")


def diagonal(count: int) -> bytes:
    """As far as calamine, which keeps the whole rectangle, has it in a few hundred MiB."""
    file = io.BytesIO()
    with xlsxwriter.Workbook(file) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["a", "b"])
        for at in range(min(count, 3_000)):
            sheet.write_row(at + 1, at, ["x", "y"])
    return file.getvalue()


def sheets(count: int) -> bytes:
    return ods_bytes({f"S{at}": ods_rows([["a", "b"], ["1", "2"]]) for at in range(min(count, 1_000))})


def of_argilla(count: int) -> bytes:
    def record(at: int) -> object:
        values = {f"q{at}": {"value": "a"}}
        responses = [{"user_id": "u", "values": values, "status": "submitted"}]
        return {"id": str(at), "fields": {f"t{at}": "x"}, "responses": responses}

    return objects(count, record)


def of_label_studio(count: int) -> bytes:
    def task(at: int) -> object:
        choice = {"from_name": f"q{at}", "to_name": "t", "type": "choices", "value": {"choices": ["a"]}}
        answers = [{"completed_by": at % 7, "result": [choice]}]
        return {"id": at, "data": {f"t{at}": "x"}, "annotations": answers}

    return objects(count, task)


def of_doccano(count: int) -> bytes:
    line = b'{"id": 1, "text": "a", "label": ["x"]}\n'
    return zipped({f"{at}.jsonl": line * 5 for at in range(min(count, 999))})


def of_potato(count: int) -> bytes:
    labels = [{f"q{at}": {"a": "true"}} for at in range(count)]
    return objects(count, lambda at: {"id": str(at), "user_id": "u", "labels": labels[at], "spans": {}})


def of_lists(count: int) -> bytes:
    raters, labels = [f"r{at}" for at in range(count)], ["a"] * count
    return objects(2, lambda at: {"id": str(at), "annotators": raters, "labels": labels})


def of_rater_maps(count: int) -> bytes:
    return objects(count, lambda at: {"id": str(at), "annotations": {f"Ann{at}": "1", f"Ann{at + 1}": "0"}})


DELIMITED: dict[str, Shape] = {
    "rows": lambda n: lines(n, lambda at: f"i{at // 9},r{at % 9},x"),
    "columns": lambda n: lines(3, lambda _: ",".join(["1"] * n), ",".join(f"c{at}" for at in range(n))),
    "columns that sound alike": lambda n: lines(
        3, lambda _: ",".join(["1"] * n), ",".join(f"rater_{at}" for at in range(n))
    ),
    "repeated columns": lambda n: lines(
        3, lambda _: ",".join(["1"] * n), ",".join(f"c{at // 2}" for at in range(n))
    ),
    "long cells": lambda n: lines(3, lambda _: f'i,r,"{"x" * n}"'),
    "quoted rows": lambda n: lines(n, lambda at: f'"i{at}","r","x\ny"'),
    "unmatched quotes": lambda n: lines(n, lambda _: 'i,"r,x'),
    "stray quotes": lambda n: lines(n, lambda at: f'i{at},r"a,x'),
    "doubled quotes": lambda n: lines(3, lambda _: f'i,r,"{chr(34) * 2 * n}"'),
    "quotes alone": lambda n: b"a,b\n" + b'"' * n,
    "ragged rows": lambda n: lines(n, lambda at: "i,r" + ",x" * (at % 5)),
    "blank lines": lambda n: b"a,b\n1,2\n" + b"\n" * n,
    "carriage returns": lambda n: b"a,b\r1,2\r" + b"\r" * n + b"3,4\r",
    "delimiters": lambda n: b"a,b\n" + b"," * n,
    "rows of Latin-1": lambda n: lines(n, lambda at: f"i{at},r,\xe9").decode().encode("latin-1"),
    "rows of UTF-16": lambda n: lines(n, lambda at: f"i{at},r,x").decode().encode("utf-16"),
    "a late wrong byte": lambda n: lines(n, lambda at: f"i{at},r,\xe9") + b"\xe9,a,b\n",
    "triples": lambda n: lines(n, lambda at: f"i{at},r{at % 9},x", "i,r,x"),
    "lists in cells": lambda n: lines(
        3, lambda at: f'{at},"{[*range(n)]}","{["a"] * n}"', "id,raters,labels"
    ),
    "question pairs": lambda n: lines(
        3,
        lambda at: ",".join([f"i{at}", *["r", "x"] * n]),
        ",".join(["id", *(f"r{at}_q,q{at}" for at in range(n))]),
    ),
}
JSON: dict[str, Shape] = {
    "records": lambda n: objects(n, lambda at: {"item": str(at), "rater": "r", "label": "x"}),
    "lines": lambda n: b'{"item": "a", "rater": "r", "label": "x"}\n' * n,
    "fields": lambda n: one_object({f"f{at}": 1 for at in range(n)}),
    "repeated fields": repeated_fields,
    "fields of one column": column_clash,
    "fields of each record": lambda n: objects(n, lambda at: {f"f{at}": 1}),
    "two fields of each record": lambda n: objects(n, lambda at: {"id": at, f"f{at}": 1, f"g{at}": 2}),
    "long names above many": lambda n: one_object({"x" * n: {f"f{at}": 1 for at in range(n // 10)}}),
    "long names": lambda n: one_object({"x" * n: 1, "b": 2}),
    "deep": lambda n: ("[" + nested(n, "1") + "]").encode(),
    "deep lists": lambda n: ('[{"a": ' + "[" * n + "]" * n + "}]").encode(),
    "deep but for the end": lambda n: ('{"a":' * n).encode(),
    "wide at depth": lambda n: (
        "[" + nested(40, json.dumps({f"f{at}": 1 for at in range(n)})) + "]"
    ).encode(),
    "long text": lambda n: objects(2, lambda _: {"a": "x" * n, "b": "y"}),
    "escapes": lambda n: ('[{"a": "' + "\\u00e9" * n + '", "b": 1}]').encode(),
    "halves of characters": lambda n: ('[{"a": "' + "\\ud800" * n + '", "b": 1}]').encode(),
    "backslashes": lambda n: ('[{"a": "' + "\\\\" * n + '", "b": 1}]').encode(),
    "spaces": lambda n: b"[{" + b" " * n + b'"a": 1, "b": 2}]',
    "blank lines": lambda n: b'{"a": 1, "b": 2}\n' + b"\n" * n,
    "columns": lambda n: json.dumps({"a": list(range(n)), "b": list(range(n))}).encode(),
    "split": lambda n: json.dumps(
        {"columns": ["a", "b"], "index": list(range(n)), "data": [[1, 2]] * n}
    ).encode(),
    "objects": lambda n: json.dumps({f"k{at}": {"a": 1, "b": 2} for at in range(n)}).encode(),
    "objects of objects": lambda n: json.dumps({f"k{at}": {f"a{at}": 1} for at in range(n)}).encode(),
    "Argilla": of_argilla,
    "Label Studio": of_label_studio,
    "Potato": of_potato,
    "lists of raters": of_lists,
    "maps of raters": of_rater_maps,
}
PACKED: dict[str, Shape] = {
    "gzip": lambda n: gzip.compress(DELIMITED["rows"](n), 1),
    "members of gzip": lambda n: gzip.compress(b"a,b\n") + gzip.compress(b"1,2\n") * n,
    "bz2": lambda n: bz2.compress(DELIMITED["rows"](n)),
    "zip": lambda n: zipped({f"{at}.txt": b"x" for at in range(min(n, 999))}),
    "zip of zips": lambda n: zipped({f"{at}.zip": zipped({"a": b"x"}) for at in range(min(n, 999))}),
    "doccano": of_doccano,
}
SHEETS: dict[str, Shape] = {
    "rows": lambda n: xlsx_bytes([["a", "b"], *[["1", "2"]] * n]),
    "columns": lambda n: xlsx_bytes([[f"c{at}" for at in range(n)]] * 3),
    "marks in a comment": lambda n: xlsx_with("<c " * n),
    "marks in shared texts": lambda n: xlsx_with("<si><t>" * n, "xl/sharedStrings.xml"),
    "diagonal": diagonal,
    "sheets": sheets,
}
TABLES: dict[str, Shape] = {
    "rows": lambda n: parquet_bytes({"a": [str(at) for at in range(n)], "b": ["x"] * n}),
    "columns": lambda n: parquet_bytes({f"c{at}": ["x", "y"] for at in range(n)}),
    "lists": lambda n: parquet_bytes(
        {"id": ["a"], "annotators": [[str(at) for at in range(n)]], "labels": [["x"] * n]}
    ),
    "fields": lambda n: parquet_bytes({"id": ["a"], "s": [{f"f{at}": "x" for at in range(n)}]}),
}
KINDS = {"delimited": DELIMITED, "JSON": JSON, "packed": PACKED, "workbook": SHEETS, "Parquet": TABLES}
SHAPES: dict[str, Shape] = {
    f"{kind}: {name}": shape for kind, shapes in KINDS.items() for name, shape in shapes.items()
}
