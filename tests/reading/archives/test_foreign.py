"""Files of kinds that are not read are told by what they are; archives are bounded."""

import gzip
import io
import json
import lzma
import pickle
import random
import sqlite3
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from grasp_core.benchmark import checkpoints
from grasp_core.benchmark.language_models.answers import kept_answers
from grasp_core.benchmark.language_models.prompt import FileTokens
from grasp_core.benchmark.tasks import builtin_tasks, read_rows, read_task
from grasp_core.model.errors import DataError
from grasp_core.model.sizes import MIB, read_at_most
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.commands import refused
from tests.reading.files.workbook_files import members_of, xlsx_bytes
from tests.reading.making import csv_bytes
from tests.reading.reader_samples import ROWS, outcome
from tests.zips import zipped

FRAME = pd.DataFrame({"item": ["a", "b"], "rater": ["r", "s"], "label": ["1", "2"]})


def tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as packed:
        packed.addfile(tarfile.TarInfo("votes.csv"))
    return out.getvalue()


def database() -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection, connection:
        connection.execute("create table votes (item, label)")
        return connection.serialize()


def arrays(write: Callable[[io.BytesIO, np.ndarray], None]) -> bytes:
    out = io.BytesIO()
    write(out, np.arange(9))
    return out.getvalue()


SHORTCUT = {"url": "https://docs.google.com/open?id=1aB", "doc_id": "1aB", "email": "a@example.org"}
WORD = {"[Content_Types].xml": b"<a/>", "word/document.xml": b"<a/>"}
NUMBERS = {"Index/Document.iwa": b"\0a", "preview.jpg": b"\xff"}
UNKNOWN = "a binary file of an unknown kind"
FOREIGN = {
    "xz": (lzma.compress(csv_bytes(ROWS)), "an xz archive", "unpack it"),
    "7-zip": (b"7z\xbc\xaf\x27\x1c\0\4" + bytes(99), "a 7-zip archive", "unpack it"),
    "RAR": (b"Rar!\x1a\x07\x01\x00" + bytes(99), "a RAR archive", "unpack it"),
    "tar": (tar(), "a tar archive", "zip archive"),
    "tar.gz": (gzip.compress(tar()), "a tar archive", "zip archive"),
    "R, one object": (gzip.compress(b"X\n\0\0\0\3\0\4\2\0" + bytes(99)), "an R file", "row.names = FALSE"),
    "R, a workspace": (gzip.compress(b"RDX3\nX\n\0\0\0\3" + bytes(99)), "an R file", "write.csv(x,"),
    "R, as text": (b"A\n3\n262657\n197888\n6\nCP1252\n", "an R file", "write.csv(x,"),
    "SAS": (bytes(12) + b"\xc2\xea\x81\x60\xb3\x14" + bytes(99), "a SAS file", "PROC EXPORT"),
    "SAS, transport": (b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!", "a SAS file", "PROC EXPORT"),
    "SPSS, locked": (b"\x1c\0\0\0\0\0\0\0ENCRYPTEDSAV\x15\0\0\0", "with a password", "without one"),
    **{
        f"pickle {protocol}": (pickle.dumps(FRAME, protocol), "a Python pickle", "never opened")
        for protocol in range(2, 6)
    },
    "pickle, gzip": (gzip.compress(pickle.dumps(FRAME)), "a Python pickle", "to_csv"),
    "pickle, zip": (zipped({"votes.pkl": pickle.dumps(FRAME)}), "a Python pickle", "to_csv"),
    "SQLite": (database(), "an SQLite database", "as CSV"),
    "Access": (b"\0\1\0\0Standard ACE DB\0" + bytes(99), "a Microsoft Access database", "as CSV"),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + bytes(99), "an HDF5 file", "to_csv"),
    "NumPy": (arrays(np.save), "a NumPy array", "to_csv"),
    "NumPy, several": (arrays(np.savez), "an archive of NumPy arrays", "to_csv"),
    "PDF": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "a PDF", "copy the table"),
    "PNG": (b"\x89PNG\r\n\x1a\n" + bytes(99), "a picture", "save the table"),
    "JPEG": (b"\xff\xd8\xff\xe0\0\x10JFIF\0", "a picture", "save the table"),
    "film": (b"\0\0\0\x20ftypisom\0\0\2\0", "a sound or a film", "save the table"),
    "web page": (b"\n <!DOCTYPE html><p>sign in</p>", "a web page", "download the file itself"),
    "XML": (b'<?xml version="1.0"?><a/>', "XML", "save the table"),
    "RTF": (b"{\\rtf1\\ansi votes}", "a text document", "copy the table"),
    "Word": (zipped(WORD), "a Word document", "copy"),
    "PowerPoint": (zipped({"ppt/presentation.xml": b"<a/>"}), "a presentation", "copy the table"),
    "Numbers": (zipped(NUMBERS), "Apple Numbers", "(XLSX) or CSV"),
    "Google Sheets": (json.dumps(SHORTCUT).encode(), "a shortcut to a Google document", "download it"),
    "unknown": (random.Random(1).randbytes(5_000), UNKNOWN, "save the table"),
    "unknown, from a letter on": (b"?" + random.Random(3).randbytes(3_000), UNKNOWN, "save the table"),
    "unknown, short": (random.Random(2).randbytes(200), UNKNOWN, "save the table"),
    "XLSB": (zipped({**members_of(xlsx_bytes([])), "xl/workbook.bin": b"\0"}), "in the binary form XLSB", ""),
}


@pytest.mark.parametrize("kind", list(FOREIGN))
def test_what_is_not_read_is_told(kind):
    content, what, advice = FOREIGN[kind]
    with pytest.raises(DataError, match=r"^votes\.csv") as caught:
        read_table(content, "votes.csv")
    message = str(caught.value)
    assert [part for part in (what, advice) if part not in message] == []
    assert [part for part in ("encod", "Windows-") if part in message] == []


def test_odd_bytes_in_text_are_text():
    for odd in (b"x\x07", "いいえ".encode("iso2022_jp")):
        assert isinstance(outcome(b"a,b\n" + b"1,%b\n" % odd * 50), Table)


TASK = next(iter(builtin_tasks().values()))


def test_files_and_lists_of_ids_are_read_up_to_a_size(tmp_path: Path, capsys) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * MIB)
    assert read_at_most(file, MIB, "anything") == b"x" * MIB
    file.write_bytes(b"x" * (MIB + 1))
    with pytest.raises(DataError, match="file is larger than 1 MiB, the most that is read of anything"):
        read_at_most(file, MIB, "anything")
    with pytest.raises(OSError, match="directory"):
        read_at_most(tmp_path, MIB, "anything")
    ids = tmp_path / "ids.txt"
    with ids.open("wb") as empty:
        empty.truncate(65 * MIB)
    for listed, said in (
        (f"@{ids}", "is larger than 64 MiB, the most that is read of a list of ids"),
        ("@no-such-file", "'no-such-file' cannot be read as a list of ids"),
    ):
        assert said in refused(capsys, "run", "--annotations", "a.csv", "--exclude-rater", listed)


@pytest.mark.parametrize(
    ("name", "read", "what"),
    [
        ("task.json", lambda path: read_task(path.parent), "a task's description"),
        ("train.csv", lambda path: read_rows(path, TASK, labelled=True), "a task's rows"),
        ("tokenizer.json", FileTokens, "a tokenizer"),
        ("answers.jsonl", kept_answers, "answers"),
    ],
)
def test_files_of_the_benchmark_are_read_up_to_a_size(tmp_path, monkeypatch, name, read, what) -> None:
    monkeypatch.setattr(checkpoints, "_MAX_FILE", MIB)  # read whole, or a GiB would be held
    file = tmp_path / name
    with file.open("wb") as empty:
        empty.truncate(1024 * MIB + 1)  # a sparse file: it takes no room
    with pytest.raises(DataError, match=rf"larger than [\d,]+ MiB, the most that is read of {what}"):
        read(file)
