"""Recognition and decoding of text encodings."""

import codecs
import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping

import charset_normalizer

from grasp_core.model.errors import DataError, Problem, know
from grasp_core.model.remarks.problems import FileProblem
from grasp_core.model.text import quoted

_LANGUAGES: dict[str, str] = {
    "cp1252": (
        "éàèêçôîâûùïœëüæÿ "  # French
        "éëïèöóêüáàíç "  # Dutch
        "ãçáéíêóâúàôõü "  # Portuguese
        "óáíéñúü¿¡ºª "  # Spanish, Galician
        "èàùòéìíîóú "  # Italian
        "éàòóèíçúïüñ "  # Catalan, Occitan
        "äöåéàü "  # Swedish, Finnish
        "åøæéòôóèêäö "  # Norwegian, Danish
        "üäößé "  # German
        "ðáíþóæöúéý "  # Icelandic
        "áðíóøæúýö "  # Faroese
        "áéíóú "  # Irish
        "àìòùèéáó "  # Scottish Gaelic
        "âôêîŷŵïëö "  # Welsh
        "ëêéïôîûèáöüóú "  # Afrikaans
        "ñùêéôüâ "  # Breton
        "äõüöšž "  # Estonian
        "ëç"  # Albanian
    ),
    "cp1250": (
        "áíěéřčýžůšúóťňď "  # Czech
        "áíéčýžšťúľôňóäďŕĺ "  # Slovak
        "ęąłóśżćńź "  # Polish
        "éáőöíóüúű "  # Hungarian
        "ăşţîâ "  # Romanian
        "čšžćđ "  # Croatian, Slovene, Bosnian, Serbian
        "ëç"  # Albanian
    ),
    "cp1254": "ışüğöçİâîû",  # Turkish
    "cp1257": (
        "ėšųįžąčūę "  # Lithuanian
        "āīēšūņļžģčķ "  # Latvian
        "äõüöšž"  # Estonian
    ),
}
"""Letters beyond ASCII by language of each code page, the most usual letters first."""

_USUAL = "cp1252"
_LESS_USUAL = 2.5  # log odds that other code pages must overcome: each is far less common than Windows-1252
_NEARLY_ALL = 0.9
"""Share of letters that other pages must know: text in other scripts looks like signs and rare letters."""
_STRAY, _SIGN, _NEVER = 0.05, 0.01, 1e-5
"""Share of letters of other languages (names, quotes); chances of a sign, and of unused characters."""
_ANYWHERE = frozenset("\u2018\u2019\u201a\u201c\u201d\u201e\u2013\u2014\u2026\u2022€«»°§·\xa0")
"""Quotes, dashes and signs that are written in every language."""
_MOST = 20_000
_REACH = 1 << 24
_BYTE = re.compile(rb"[\x80-\xff]")
_WORD = re.compile(rb"[A-Za-z\x80-\xff]{1,24}")
_ASCII = bytes(range(0x80))


def _code_page(content: bytes, first: int) -> tuple[str, int | None]:
    """Return the likeliest code page, and the position of a byte that the next likely one reads otherwise."""
    beyond = bytes(set(content.translate(None, _ASCII)))
    tables = {page: table for page in _LANGUAGES if (table := _table(page, beyond)) is not None}
    if not tables:
        return _USUAL, None
    # Quotes and dashes are the same in all.
    letters = {byte for byte in beyond if any(table[byte].isalpha() for table in tables.values())}
    seen = _seen(content, first, letters)
    scores = {page: _score(seen, page, table) for page, table in tables.items()}
    ranked = sorted(tables, key=scores.__getitem__, reverse=True)
    # Of pages that read the text alike, take the usual one.
    best = next(page for page in tables if _alike(page, ranked[0], beyond))
    other = next((page for page in ranked if not _alike(page, best, beyond)), None)
    if other is None:
        return best, None
    unlike = bytes(byte for byte in beyond if tables[best][byte] != tables[other][byte])
    found = re.search(b"[" + re.escape(unlike) + b"]", content) if unlike else None
    return best, None if found is None else found.start()


def _of_one_western_language(content: bytes) -> bool:
    """Return whether all bytes beyond ASCII are, in Windows-1252, letters of one language, or quotes."""
    table = _table(_USUAL, bytes(set(content.translate(None, _ASCII))))
    if table is None:
        return False
    letters = {_small(one) for one in table.values() if one not in _ANYWHERE}
    return any(letters <= set(language) for language in _LANGUAGES[_USUAL].split())


def _word_at(content: bytes, position: int, encoding: str) -> str:
    """Return the word around a byte, or a part of a long word, in a code page of one byte per letter."""
    start = max(0, position - 12)
    for word in _WORD.finditer(content, start, position + 12):
        if word.start() <= position < word.end():
            return word.group().decode(encoding, errors="replace")
    return content[position : position + 1].decode(encoding, errors="replace")


def _table(page: str, beyond: bytes) -> dict[int, str] | None:
    """Return the character of each byte in the page; None if the page lacks one of them."""
    try:
        return dict(zip(beyond, beyond.decode(page), strict=True))
    except UnicodeDecodeError:
        return None


def _alike(page: str, other: str, beyond: bytes) -> bool:
    return beyond.decode(page) == beyond.decode(other)


def _seen(content: bytes, first: int, letters: Collection[int]) -> Counter[tuple[int, int, int]]:
    """Count each byte with its two neighbours."""
    padded = content[first - 1 : first + _REACH] + b" " if first else b" " + content[:_REACH] + b" "
    found = (at.start() for at in itertools.islice(_BYTE.finditer(padded), _MOST))
    return Counter((padded[at - 1], padded[at], padded[at + 1]) for at in found if padded[at] in letters)


def _score(seen: Counter[tuple[int, int, int]], page: str, table: Mapping[int, str]) -> tuple[bool, float]:
    """Return whether the page is possible, and the log likelihood in its best language for the letters."""
    weights: dict[str, float] = defaultdict(float)
    for (before, byte, after), count in seen.items():
        misplaced = _is_misplaced(table[byte], _is_letter(before, table), _is_letter(after, table))
        # A label that recurs in every row says little more than once.
        weights["" if misplaced else _small(table[byte])] += 1 + math.log(count) / 4
    likely = max(_likelihood(weights, letters, page) for letters in _LANGUAGES[page].split())
    if page == _USUAL:
        return True, likely
    known = sum(weight for letter, weight in weights.items() if letter and letter in _LANGUAGES[page])
    return known >= _NEARLY_ALL * sum(weights.values()), likely - _LESS_USUAL


def _is_letter(byte: int, table: Mapping[int, str]) -> bool:
    return table.get(byte, chr(byte) if byte < 0x80 else " ").isalpha()


def _is_misplaced(sign: str, after_letter: bool, before_letter: bool) -> bool:
    """Return whether a sign touches letters as no sign does: it is a misread letter, as in ``ma³y``."""
    if sign.isalpha() and sign not in "ºª":
        return False
    if sign in "¿¡":
        return after_letter
    return before_letter or (after_letter and sign in "£¥¼½¾¯")


def _small(letter: str) -> str:
    small = letter.lower()
    return small if len(small) == 1 else letter


def _likelihood(weights: Mapping[str, float], letters: str, page: str) -> float:
    """Return the log likelihood, with frequencies of a language's letters by their rank (Zipf's law)."""
    every = frozenset(_LANGUAGES[page]) - {" "}
    whole = sum(1 / rank for rank in range(1, len(letters) + 1))
    total = 0.0
    for letter, weight in weights.items():
        rank = letters.find(letter) + 1 if letter else 0
        stray = (
            _STRAY / len(every) if letter in every else (_SIGN if letter and not letter.isalpha() else _NEVER)
        )
        total += weight * math.log(stray + ((1 - _STRAY) / (rank * whole) if rank else 0.0))
    return total


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
"""Encodings that a few lines show reliably; if another seems likely, it is a code page of Latin letters."""
_SIDE_BY_SIDE = re.compile(r"[^\x00-\x7f]{2}")
_IN_A_WORD = re.compile(r"[A-Za-z][^\x00-\x7f]|[^\x00-\x7f][A-Za-z]")
"""Letters with accents read in such an encoding, each with the letter after it: ``r\u5ee7onse``."""
_CHUNK = 1 << 24
_AROUND = 2_000
_SAMPLE = 1 << 18


def to_utf8(content: bytes, name: str) -> tuple[bytes, str, tuple[Problem, ...]]:
    """Return the content in UTF-8 without byte order mark, its encoding for people, and notes."""
    for mark, encoding, shown in _BOMS:
        if content.startswith(mark):
            rest = content[len(mark) :]
            if encoding == "utf-8":
                if (wrong := _first_wrong(rest)) is not None:
                    raise _mixed(rest, wrong, name, "the file says that it is UTF-8")
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
    """Return the number of the line with the byte at `position`."""
    before = content[:position]
    return 1 + before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")


def _first_wrong(content: bytes) -> int | None:
    """Return the position of the first byte that is not UTF-8; read by pieces, without a whole copy."""
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


def _from_other(content: bytes, wrong: int, name: str) -> tuple[bytes, str, tuple[Problem, ...]]:
    """Decode text in a legacy encoding, recognised near its first byte that is not ASCII."""
    if any(byte >= 0x80 for byte in content[max(0, wrong - _SAMPLE) : wrong]):
        raise _mixed(content, wrong, name, "what comes before it is UTF-8")
    start = max(0, wrong - _AROUND)
    sample = content[start : start + _SAMPLE]
    encoding, differs = _other_script(sample), None
    if encoding is None:
        encoding, differs = _code_page(content, wrong)
    text = _recoded(content, encoding, _shown(encoding), name)
    line = line_of(content, wrong if differs is None else differs)
    # An example for people to judge: a word that the next likely encoding reads otherwise.
    example = content[wrong : wrong + 4].decode(encoding, errors="replace")[:1]
    if differs is not None:
        example = _word_at(content, differs, encoding)
    remark = FileProblem.OTHER_ENCODING(file=name, encoding=_shown(encoding), row=line, example=example)
    return text, _shown(encoding), (know(remark),)


def _other_script(sample: bytes) -> str | None:
    """Return the encoding of text in another script than Latin; None if it seems to be Latin."""
    found = charset_normalizer.from_bytes(sample).best()
    if found is None or found.encoding not in _TRUSTED or _western(sample, found.encoding):
        return None
    return found.encoding


def _western(sample: bytes, encoding: str) -> bool:
    """Return whether bytes may be Windows-1252: equal there, or letters in words as a language has them."""
    text = sample.decode(encoding, errors="replace")
    if text == sample.decode("cp1252", errors="replace"):
        return True
    if _IN_A_WORD.search(text) is None:
        return False
    alone = encoding in _OF_SEVERAL_BYTES and _SIDE_BY_SIDE.search(text) is None
    return alone or _of_one_western_language(sample)


def _shown(encoding: str) -> str:
    return f"Windows-{encoding[2:]}" if encoding.startswith("cp125") else codecs.lookup(encoding).name


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
