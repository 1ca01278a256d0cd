"""Bytes as UTF-8 text: byte order marks, and encodings told from the bytes themselves."""

from __future__ import annotations

import codecs
import re

import charset_normalizer

from grasp_core.errors import DataError, Problem, know
from grasp_core.io.files import code_pages
from grasp_core.remarks.problems import FileProblem
from grasp_core.wording import quoted

_BOMS = (
    (codecs.BOM_UTF8, "utf-8", "UTF-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
)
_OF_SEVERAL_BYTES = frozenset(
    {"cp932", "shift_jis", "euc_jp", "gb18030", "gb2312", "gbk", "big5", "cp949", "euc_kr"}
)
_TRUSTED = _OF_SEVERAL_BYTES | {"cp1251", "cp1253", "cp1255", "cp1256", "koi8_r"}
"""Encodings that a few lines tell apart; whatever else seems likely is a code page of Latin letters."""
_SIDE_BY_SIDE = re.compile(r"[^\x00-\x7f]{2}")
_IN_A_WORD = re.compile(r"[A-Za-z][^\x00-\x7f]|[^\x00-\x7f][A-Za-z]")
"""How letters with accents look in such an encoding, each with the letter after it: ``r\u5ee7onse``."""
_CHUNK = 1 << 24
_AROUND = 2_000
_SAMPLE = 1 << 18


def to_utf8(content: bytes, name: str) -> tuple[bytes, str, tuple[Problem, ...]]:
    """The content in UTF-8 without byte order mark, its encoding for people, and what to know about it.

    Raises
    ------
    DataError
        If the bytes are no text in any one encoding.
    """
    for mark, encoding, shown in _BOMS:
        if content.startswith(mark):
            rest = content[len(mark) :]
            if encoding == "utf-8":
                _check_utf8(rest, name)
                return rest, "UTF-8", ()
            return _recoded(rest, encoding, shown, name), shown, ()
    if b"\0" in content[:_AROUND].replace(b"\0\0", b""):
        for encoding in ("utf-16-le", "utf-16-be"):
            if _looks_like_utf16(content[:_AROUND], encoding):
                return _recoded(content, encoding, "UTF-16", name), "UTF-16", ()
    wrong = _first_wrong(content)
    if wrong is None:
        return content, "UTF-8", ()
    return _from_other(content, wrong, name)


def line_of(content: bytes, position: int) -> int:
    """Number of the line that holds the byte at `position`."""
    before = content[:position]
    return 1 + before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")


def _first_wrong(content: bytes) -> int | None:
    """Position of the first byte that is not UTF-8; a piece at a time, so that nothing is copied whole."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(content)
    for start in range(0, len(content) or 1, _CHUNK):
        try:
            decoder.decode(view[start : start + _CHUNK], final=start + _CHUNK >= len(content))
        except UnicodeDecodeError as error:
            # The decoder may have kept up to three bytes of the piece before.
            kept = len(error.object) - len(view[start : start + _CHUNK])
            return start - kept + error.start
    return None


def _check_utf8(content: bytes, name: str) -> None:
    wrong = _first_wrong(content)
    if wrong is not None:
        raise _mixed(content, wrong, name, "the file says that it is UTF-8")


def _from_other(content: bytes, wrong: int, name: str) -> tuple[bytes, str, tuple[Problem, ...]]:
    """Text in a legacy encoding, told from the neighbourhood of its first byte that is not ASCII."""
    if _holds_utf8(content[max(0, wrong - _SAMPLE) : wrong]):
        raise _mixed(content, wrong, name, "what comes before it is UTF-8")
    start = max(0, wrong - _AROUND)
    sample = content[start : start + _SAMPLE]
    encoding, differs = _other_script(sample), None
    if encoding is None:
        encoding, differs = code_pages.tell(content, wrong)
    text = _recoded(content, encoding, _shown(encoding), name)
    line = line_of(content, wrong if differs is None else differs)
    example = _example(content, wrong, differs, encoding)
    remark = FileProblem.OTHER_ENCODING(file=name, encoding=_shown(encoding), row=line, example=example)
    return text, _shown(encoding), (know(remark),)


def _other_script(sample: bytes) -> str | None:
    """The encoding of text in another script than Latin; None if it seems to be Latin."""
    found = charset_normalizer.from_bytes(sample).best()
    if found is None or found.encoding not in _TRUSTED or _western(sample, found.encoding):
        return None
    return found.encoding


def _example(content: bytes, wrong: int, differs: int | None, encoding: str) -> str:
    """What shows whether the encoding is right: a word that the next likely one would read otherwise."""
    if differs is not None:
        return code_pages.word_at(content, differs, encoding)
    return content[wrong : wrong + 4].decode(encoding, errors="replace")[:1]


def _western(sample: bytes, encoding: str) -> bool:
    """Whether the bytes may be Windows-1252: the same there, or letters in words as a language has them."""
    text = sample.decode(encoding, errors="replace")
    if text == sample.decode("cp1252", errors="replace"):
        return True
    if _IN_A_WORD.search(text) is None:
        return False
    alone = encoding in _OF_SEVERAL_BYTES and _SIDE_BY_SIDE.search(text) is None
    return alone or code_pages.is_of_one_western_language(sample)


def _shown(encoding: str) -> str:
    return f"Windows-{encoding[2:]}" if encoding.startswith("cp125") else codecs.lookup(encoding).name


def _holds_utf8(content: bytes) -> bool:
    return any(byte >= 0x80 for byte in content)


def _looks_like_utf16(content: bytes, encoding: str) -> bool:
    try:
        text = content[: len(content) // 2 * 2].decode(encoding)
    except UnicodeDecodeError:
        return False
    plain = sum(letter.isascii() and (letter.isprintable() or letter in "\r\n\t") for letter in text)
    return plain > 0.8 * len(text)


def _recoded(content: bytes, encoding: str, shown: str, name: str) -> bytes:
    try:
        return content.decode(encoding).encode("utf-8")
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        raise DataError(
            f"{name}: the bytes from position {start:,} are not text in {shown}, as those before it; "
            "save the file as 'CSV UTF-8'"
        ) from None


def _mixed(content: bytes, wrong: int, name: str, why: str) -> DataError:
    byte = content[wrong]
    character = bytes([byte]).decode("latin-1")
    meant = f" ({quoted(character)} in Latin-1)" if character.isprintable() else ""
    return DataError(
        f"{name}, row {line_of(content, wrong)}: byte 0x{byte:02X}{meant} is not UTF-8 text, though {why}; "
        "save the whole file in one encoding, as 'CSV UTF-8'"
    )
