"""Windows code pages of languages in Latin script, told apart by the letters that a language uses."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

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
"""Letters beyond ASCII of the languages that a code page is used for, the most usual ones first."""

_USUAL = "cp1252"
_LESS_USUAL = 2.5
"""Log odds that the others have to overcome: each is far less common than Windows-1252."""
_NEARLY_ALL = 0.9
"""Share of letters that the others have to know: text in other scripts looks like signs and rare letters."""
_STRAY, _SIGN, _NEVER = 0.05, 0.01, 1e-5
"""Share of letters of other languages (names, quotes); chances of a sign, and of what nobody writes."""
_ANYWHERE = frozenset("\u2018\u2019\u201a\u201c\u201d\u201e\u2013\u2014\u2026\u2022€«»°§·\xa0")
"""Quotes, dashes and signs that are written in every language."""
_MOST = 20_000
_REACH = 1 << 24
_BYTE = re.compile(rb"[\x80-\xff]")
_WORD = re.compile(rb"[A-Za-z\x80-\xff]{1,24}")
_ASCII = bytes(range(0x80))


class Told(NamedTuple):
    """A code page, and the position of a byte that the next likely one reads as another letter."""

    encoding: str
    differs: int | None


def tell(content: bytes, first: int) -> Told:
    """The likeliest code page of text whose first byte beyond ASCII is at `first`."""
    beyond = bytes(set(content.translate(None, _ASCII)))
    tables = {page: table for page in _LANGUAGES if (table := _table(page, beyond)) is not None}
    if not tables:
        return Told(_USUAL, None)
    seen = _seen(content, first, _matter(beyond, tables))
    scores = {page: _score(seen, page, table) for page, table in tables.items()}
    ranked = sorted(tables, key=scores.__getitem__, reverse=True)
    # Of pages that read the text alike, the usual one.
    best = next(page for page in tables if _alike(page, ranked[0], beyond))
    other = next((page for page in ranked if not _alike(page, best, beyond)), None)
    return Told(best, None if other is None else _first_unlike(content, tables[best], tables[other]))


def is_of_one_western_language(content: bytes) -> bool:
    """Whether all that is beyond ASCII would be letters of a single language in Windows-1252, or quotes."""
    table = _table(_USUAL, bytes(set(content.translate(None, _ASCII))))
    if table is None:
        return False
    letters = {_small(one) for one in table.values() if one not in _ANYWHERE}
    return any(letters <= set(language) for language in _LANGUAGES[_USUAL].split())


def word_at(content: bytes, position: int, encoding: str) -> str:
    """The word around a byte, in a code page of one byte per letter; of a long one, the part around it."""
    start = max(0, position - 12)
    for word in _WORD.finditer(content, start, position + 12):
        if word.start() <= position < word.end():
            return word.group().decode(encoding, errors="replace")
    return content[position : position + 1].decode(encoding, errors="replace")


def _table(page: str, beyond: bytes) -> dict[int, str] | None:
    """What each byte is in the page; None if one of them is nothing there."""
    try:
        return dict(zip(beyond, beyond.decode(page), strict=True))
    except UnicodeDecodeError:
        return None


def _alike(page: str, other: str, beyond: bytes) -> bool:
    return beyond.decode(page) == beyond.decode(other)


def _matter(beyond: bytes, tables: Mapping[str, Mapping[int, str]]) -> frozenset[int]:
    """The bytes that are a letter in some page; quotes and dashes are the same in all."""
    return frozenset(byte for byte in beyond if any(table[byte].isalpha() for table in tables.values()))


def _seen(content: bytes, first: int, matter: frozenset[int]) -> Counter[tuple[int, int, int]]:
    """How often each of the bytes stands between which neighbours."""
    padded = content[first - 1 : first + _REACH] + b" " if first else b" " + content[:_REACH] + b" "
    found = (at.start() for at in itertools.islice(_BYTE.finditer(padded), _MOST))
    return Counter((padded[at - 1], padded[at], padded[at + 1]) for at in found if padded[at] in matter)


def _score(seen: Counter[tuple[int, int, int]], page: str, table: Mapping[int, str]) -> tuple[bool, float]:
    """Whether the page may be meant, and the log likelihood in its language that suits the letters best."""
    weights: dict[str, float] = defaultdict(float)
    for (before, byte, after), count in seen.items():
        misplaced = _is_misplaced(table[byte], _is_letter(before, table), _is_letter(after, table))
        weights["" if misplaced else _small(table[byte])] += _weight(count)
    likely = max(_likelihood(weights, letters, page) for letters in _LANGUAGES[page].split())
    if page == _USUAL:
        return True, likely
    known = sum(weight for letter, weight in weights.items() if letter and letter in _LANGUAGES[page])
    return known >= _NEARLY_ALL * sum(weights.values()), likely - _LESS_USUAL


def _weight(count: int) -> float:
    """Less than the count: a label that recurs in every row says little more than once."""
    return 1 + math.log(count) / 4


def _is_letter(byte: int, table: Mapping[int, str]) -> bool:
    return table.get(byte, chr(byte) if byte < 0x80 else " ").isalpha()


def _is_misplaced(sign: str, after_letter: bool, before_letter: bool) -> bool:
    """Whether it is a sign that touches letters as none does: a misread letter, as in ``ma³y``."""
    if sign.isalpha() and sign not in "ºª":
        return False
    if sign in "¿¡":
        return after_letter
    return before_letter or (after_letter and sign in "£¥¼½¾¯")


def _small(letter: str) -> str:
    small = letter.lower()
    return small if len(small) == 1 else letter


def _likelihood(weights: Mapping[str, float], letters: str, page: str) -> float:
    """Log likelihood, with the letters of a language as usual as by their rank (Zipf's law)."""
    every = frozenset(_LANGUAGES[page]) - {" "}
    whole = sum(1 / rank for rank in range(1, len(letters) + 1))
    total = 0.0
    for letter, weight in weights.items():
        rank = letters.find(letter) + 1 if letter else 0
        stray = _STRAY / len(every) if letter in every else _rare(letter)
        total += weight * math.log(stray + ((1 - _STRAY) / (rank * whole) if rank else 0.0))
    return total


def _rare(letter: str) -> float:
    return _SIGN if letter and not letter.isalpha() else _NEVER


def _first_unlike(content: bytes, table: Mapping[int, str], other: Mapping[int, str]) -> int | None:
    """Position of the first byte that two pages read as different letters."""
    unlike = bytes(byte for byte in table if table[byte] != other[byte])
    found = re.search(b"[" + re.escape(unlike) + b"]", content) if unlike else None
    return None if found is None else found.start()
