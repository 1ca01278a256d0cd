"""Workbooks from rows, for tests."""

import io
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

import xlsxwriter

from tests.zips import zipped

_SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
)
_SECTOR = 512


def xlsx_bytes(rows: Iterable[Sequence[Any]]) -> bytes:
    return sheets_bytes({"Sheet1": rows})


def sheets_bytes(sheets: Mapping[str, Iterable[Sequence[Any]]], *, as_text: bool = False) -> bytes:
    """An XLSX file of several sheets; as text, every cell is what it is, whatever it looks like."""
    file = io.BytesIO()
    with xlsxwriter.Workbook(file) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for position, row in enumerate(rows):
                for column, cell in enumerate(row):
                    (sheet.write_string if as_text else sheet.write)(position, column, cell)
    return file.getvalue()


def xlsx_text_bytes(rows: Iterable[Sequence[str]]) -> bytes:
    return sheets_bytes({"Sheet1": rows}, as_text=True)


def members_of(content: bytes) -> dict[str, bytes | str]:
    """The files of an archive, by their paths."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def ods_rows(rows: Iterable[Sequence[str]], paragraphs: Callable[[str], str] | None = None) -> str:
    """Rows of text as OpenDocument writes them."""
    shown = paragraphs or (lambda cell: f"<text:p>{escape(cell)}</text:p>")
    start, end = '<table:table-cell office:value-type="string">', "</table:table-cell>"
    cells = ("".join(f"{start}{shown(cell)}{end}" for cell in row) for row in rows)
    return "".join(f"<table:table-row>{row}</table:table-row>" for row in cells)


def ods_text_rows(rows: Iterable[Sequence[str]]) -> str:
    """The same for any text: spaces, tabs and line ends have elements of their own."""

    def paragraphs(cell: str) -> str:
        lines = escape(cell).replace("\t", "<text:tab/>").replace(" ", "<text:s/>").split("\n")
        return "".join(f"<text:p>{line}</text:p>" for line in lines)

    return ods_rows(rows, paragraphs)


def ods_bytes(sheets: Mapping[str, str], kind: str = "spreadsheet") -> bytes:
    """An OpenDocument file whose sheets hold the rows given as XML."""
    file = io.BytesIO()
    tables = "".join(f'<table:table table:name="{n}">{rows}</table:table>' for n, rows in sheets.items())
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        mark = f"application/vnd.oasis.opendocument.{kind}"
        archive.writestr(zipfile.ZipInfo("mimetype"), mark)
        manifest = 'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"'
        archive.writestr("META-INF/manifest.xml", f'<?xml version="1.0"?><manifest:manifest {manifest}/>')
        archive.writestr(
            "content.xml",
            f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {_SPACES}>'
            f"<office:body><office:{kind}>{tables}</office:{kind}></office:body></office:document-content>",
        )
    return file.getvalue()


def ole_bytes(streams: Mapping[str, bytes]) -> bytes:
    """A compound file with the streams, as old Office programs save ([MS-CFB] version 3, one FAT sector)."""

    def sectors(content: bytes, least: int) -> bytes:
        size = max(least, -(-len(content) // _SECTOR) * _SECTOR)
        return content.ljust(size, b"\0")

    def entry(name: str, kind: int, right: int, child: int, start: int, size: int) -> bytes:
        text = name.encode("utf-16-le") + b"\0\0"
        places = b"".join(number.to_bytes(4, "little") for number in (0xFFFFFFFF, right, child))
        head = text.ljust(64, b"\0") + len(text).to_bytes(2, "little") + bytes([kind, 1]) + places
        return head + bytes(36) + start.to_bytes(4, "little") + size.to_bytes(8, "little")

    padded = {name: sectors(content, 4096) for name, content in streams.items()}
    entries = [entry("Root Entry", 5, 0xFFFFFFFF, 1, 0xFFFFFFFE, 0)]
    fat = [0xFFFFFFFD, 0xFFFFFFFE]  # its own sector, and the directory's
    for position, (name, content) in enumerate(padded.items(), start=1):
        right = position + 1 if position < len(padded) else 0xFFFFFFFF
        entries.append(entry(name, 2, right, 0xFFFFFFFF, len(fat), len(content)))
        last = len(fat) + len(content) // _SECTOR - 1
        fat += [*range(len(fat) + 1, last + 1), 0xFFFFFFFE]
    fat += [0xFFFFFFFF] * (_SECTOR // 4 - len(fat))
    header = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + bytes.fromhex("3e000300feff09000600") + bytes(6)
    numbers = (0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0, 0, *[0xFFFFFFFF] * 108)
    plain = b"".join(number.to_bytes(4, "little") for number in (*numbers, *fat))
    return header + plain + sectors(b"".join(entries), _SECTOR) + b"".join(padded.values())


def changed(content: bytes, member: str, old: str, new: str) -> bytes:
    """The archive with `old` in one of its members replaced."""
    members = members_of(content)
    before = members[member]
    assert isinstance(before, bytes)
    members[member] = before.replace(old.encode(), new.encode())
    assert members[member] != before
    return zipped(members)
