"""Kinds of files that are not read, and advice how to get a table out of them."""

import codecs
import re
from contextlib import suppress

from grasp_core.model.errors import DataError
from grasp_core.reading.archives.containers import Archive

READABLE = "CSV, TSV, XLSX, ODS, JSON, JSON Lines or Parquet"
_SAVE = f"save the table as {READABLE}"
_UNPACK = "unpack it, and bring the table in it or a zip archive of the tables"
_PANDAS = (
    'read it where it was written and save the table there, in pandas with to_csv("table.csv", index=False)'
)
_R = 'in R, write the table with write.csv(x, "table.csv", row.names = FALSE)'
_SAS = "export the table there as CSV (PROC EXPORT with DBMS=CSV)"
_DATABASE = "export the table in it as CSV"
_COPY = "copy the table in it to a spreadsheet and save that as XLSX or CSV"

_WHOLE_TEXTS = "only labels of whole texts are, in a table with a row per annotation and who gave it"

_LOOKED_AT = 8_192
_START = 1_024
_CONTROL = bytes({*range(0x20), 0x7F} - set(b"\t\n\r\f\x1b"))
"""Bytes that text does not contain; escapes are not among them, since some encodings use them."""
_FEW_CONTROL, _SHARE_CONTROL = 4, 0.01
_BOMS = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\0\0\xfe\xff")

_KINDS: tuple[tuple[bytes, str, str], ...] = (
    (rb"\xfd7zXZ\0", "an xz archive", _UNPACK),
    (rb"7z\xbc\xaf\x27\x1c", "a 7-zip archive", _UNPACK),
    (rb"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (rb"\x1f\x9d|LZIP|\x04\x22\x4d\x18|\x5d\0\0", "a compressed file", _UNPACK),
    (rb".{257}ustar", "a tar archive", _UNPACK),
    (rb"%PDF", "a PDF", _COPY),
    (rb"\{\\rtf", "a text document (RTF)", _COPY),
    (rb"SQLite format 3\0", "an SQLite database", _DATABASE),
    (rb"\0\x01\0\0Standard (Jet|ACE) DB", "a Microsoft Access database", _DATABASE),
    (rb"\x89HDF", "an HDF5 file", _PANDAS),
    (rb"\x93NUMPY", "a NumPy array", _PANDAS),
    (
        rb"\x80[\x02-\x05]|ccopy_reg\n|cpandas\.|cnumpy\.|\((dp|lp)\d*\n",
        "a Python pickle",
        f"a pickle can run code and is never opened; {_PANDAS}",
    ),
    (rb"ORC", "an ORC file", _PANDAS),
    (rb"Obj\x01", "an Avro file", _PANDAS),
    (rb"(RD[XAB][23]\n)?(X\n\0\0\0|A\n[23]\n\d|B\n[\2\3]\0\0\0)|RD[XAB][23]\n", "an R file", _R),
    (rb"\0{12}\xc2\xea\x81\x60|HEADER RECORD\*{7}LIBRARY", "a SAS file", _SAS),
    (rb".{4,12}ENCRYPTEDSAV", "an SPSS file with a password", "save it in SPSS without one"),
    (
        rb"\x89PNG|\xff\xd8\xff|GIF8[79]a|II\*\0|MM\0\*|BM.{4}\0{4}|RIFF.{4}WEBP|.{4}ftyp(heic|avif|mif1)",
        "a picture",
        _SAVE,
    ),
    (rb"ID3|OggS|fLaC|RIFF.{4}(WAVE|AVI )|.{4}ftyp|\x1aE\xdf\xa3", "a sound or a film", _SAVE),
)
"""Patterns of the first bytes, the kind of file, and advice."""
_TEXTS: tuple[tuple[bytes, str, str], ...] = (
    (rb"<!doctype html|<html", "a web page", "download the file itself, or save the table as CSV"),
    (rb"<\?xml", "XML", _SAVE),
    (rb"#FORMAT=WebAnno TSV", "WebAnno TSV, the tokens of one annotator", _WHOLE_TEXTS),
    (rb"T\d+\t\S+ \d+ \d+", "a file of brat, with marked spans", _WHOLE_TEXTS),
)
"""The same for texts, which may begin with blanks and in capitals."""
_SHORTCUT = re.compile(rb'\s*\{[^{}]*"(doc_id|url)"[^{}]*\}\s*')
_GOOGLE = b"docs.google.com"
_ARCHIVES: tuple[tuple[str, str, str], ...] = (
    (r"word/", "a Word document", _COPY),
    (r"ppt/", "a presentation", _COPY),
    (
        r"Index/.*\.iwa|Index\.zip|index\.apxl|index\.xml\.gz",
        "a document of Apple Numbers, Pages or Keynote",
        "export it there as Excel (XLSX) or CSV",
    ),
    (r"META-INF/container\.xml", "an electronic book", _COPY),
)
"""Patterns of a member's name, the kind of archive, and advice."""
_DOCUMENT = b"application/vnd.oasis.opendocument."


def refuse(content: bytes, name: str) -> None:
    """Refuse known kinds of files that are no tables, and all content that is no text."""
    for kinds, start, flags in ((_KINDS, content, 0), (_TEXTS, content[:_START].lstrip(), re.IGNORECASE)):
        for pattern, what, advice in kinds:
            if re.match(pattern, start, flags | re.DOTALL):
                raise _not_read(name, what, advice)
    if len(content) < _START * 4 and _GOOGLE in content and _SHORTCUT.fullmatch(content):
        raise _not_read(name, "a shortcut to a Google document", "open that, and download it as XLSX or CSV")
    if _is_binary(content):
        raise _not_read(name, "a binary file of an unknown kind", f"{_SAVE} in the program that wrote it")


def refuse_archive(archive: Archive) -> None:
    """Refuse documents that are zip archives inside."""
    names, name = archive.names, archive.name
    for pattern, what, advice in _ARCHIVES:
        if any(re.match(pattern, path) for path in names):
            raise _not_read(name, what, advice)
    kind = archive.member("mimetype") if "mimetype" in names else b""
    if kind.startswith(_DOCUMENT) and b"spreadsheet" not in kind:
        raise _not_read(name, "an OpenDocument file that is no spreadsheet", _COPY)
    if all(path.endswith(".npy") for path in names):
        raise _not_read(name, "an archive of NumPy arrays", _PANDAS)


def _not_read(name: str, what: str, advice: str) -> DataError:
    return DataError(f"{name} is {what}, which is not read; {advice}")


def _is_binary(content: bytes) -> bool:
    """Return whether content has more than a few different bytes that no text contains."""
    start = content[:_LOOKED_AT]
    if start.startswith(_BOMS):
        return False
    with suppress(UnicodeDecodeError):
        codecs.getincrementaldecoder("utf-8")().decode(start)  # the start may end within a letter
        if b"\0" not in start:
            return False
    found = len(start) - len(start.translate(None, _CONTROL))
    different = sum(byte in start for byte in _CONTROL)
    return different >= _FEW_CONTROL and found > _SHARE_CONTROL * len(start)
