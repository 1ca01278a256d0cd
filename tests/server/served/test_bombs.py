"""Files made to grow, dropped on the Data page of a real server: a sentence, and everybody else is served."""

import io
import struct
import threading
import zipfile
import zlib
from pathlib import Path

import httpx
import pytest

from tests.server.served.conftest import LIMIT_MB
from tests.server.tabs import tab
from tests.serving import Served, memory_of


def short_rows() -> bytes:
    """A gzip of 1 MB that unpacks to 755 MB of rows of five bytes: one stream, its pieces packed once."""
    header, rows, times = b"a,b,c\n", b"1,2,3\n" * (1 << 20), 120
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    first, piece = (packer.compress(part) + packer.flush(zlib.Z_FULL_FLUSH) for part in (header, rows))
    checksum = zlib.crc32(header)
    for _ in range(times):
        checksum = zlib.crc32(rows, checksum)
    end = struct.pack("<LL", checksum, len(header) + times * len(rows))
    return b"\x1f\x8b\x08" + bytes(7) + first + piece * times + packer.flush() + end


def marks() -> bytes:
    """A workbook whose sheet says ``<c `` over and over in a comment."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
        archive.writestr("xl/worksheets/sheet1.xml", f"<x><!-- {'<c ' * 4_000_000} --></x>")
    return out.getvalue()


def fields() -> bytes:
    return b"{" + b",".join(b'"f%d":1' % n for n in range(400_000)) + b"}"


@pytest.mark.parametrize(
    "bomb",
    [
        pytest.param(short_rows, id="short_rows"),
        pytest.param(marks, id="marks", marks=pytest.mark.long),
        pytest.param(fields, id="fields", marks=pytest.mark.long),
    ],
)
def test_it_gets_a_sentence_while_others_are_served(served: Served, bomb) -> None:
    content = bomb()
    before, grown, healthy = memory_of(served.url), 0.0, 0
    # A client that is there already: on a busy machine making one takes longer than some of these files.
    with tab(served.url, "data") as one, httpx.Client(base_url=served.url, timeout=30) as other:
        assert other.get("/api/health").status_code == 200
        assert one.upload(content, "bomb").status_code == 204
        drawing = threading.Thread(target=one.show, args=("data", one.holding("bomb")), daemon=True)
        drawing.start()
        while drawing.is_alive():
            assert other.get("/api/health").status_code == 200
            grown = max(grown, memory_of(served.url) - before)
            healthy += 1
            drawing.join(0.1)
        said = [alert for alert in one.alerts() if alert.startswith("bomb")]
    assert len(said) == 1, one.alerts()
    assert healthy > 1
    assert grown < 0.5 * LIMIT_MB * 2**20 + 2 * len(content), f"{grown / 2**20:.0f} MiB"
    assert "Traceback" not in Path(served.log).read_text(encoding="utf-8")
