"""Numbers, names and lists in sentences; text made safe for terminals, Markdown, JSON and files."""

from __future__ import annotations

import csv
import difflib
import io
import json
import re
import string
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXAMPLES = 5
LISTED = 12
"""Most values that a list names; further ones are only counted."""
_SHOWN = 60
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def cut(value: str) -> str:
    """Shorten a cell's text for a sentence; a text that is short enough, or cut already, stays as it is."""
    return value if len(value) <= _SHOWN else value[:_SHOWN] + "..."


def quoted(value: str) -> str:
    """Return a cell's text as a sentence shows it: quoted, on one line, of bounded length."""
    return "'" + "".join(c if c.isprintable() else repr(c)[1:-1] for c in cut(value)) + "'"


def one_line(text: str) -> str:
    """Return a text on one line, with blanks for unprintable characters, which could control a terminal."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def tabbed(*fields: str) -> str:
    """Return fields as a line of a list, with tabs between them."""
    return "\t".join(map(one_line, fields))


def listed(values: Sequence[str], limit: int = LISTED) -> str:
    """Quoted values with commas; those beyond `limit` are only counted."""
    more = len(values) - limit
    shown = ", ".join(quoted(value) for value in values[:limit])
    return f"{shown} and {more:,} more" if more > 0 else shown


def first_few(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def number(count: int, noun: str, plural: str | None = None) -> str:
    """The count with its noun in the right form, e.g. ``1 row``, ``1,000 rows``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def spelled(count: int) -> str:
    """A count up to ten as a word, e.g. ``two``; larger ones in digits."""
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


def agree(count: int, one: str, many: str) -> str:
    """The form of a verb that goes with the count, e.g. ``has`` or ``have``."""
    return one if count == 1 else many


def not_there(name: str, path: Path) -> str:
    """Return the sentence that a file does not exist, with its path if `name` is not the path."""
    return f"{name} does not exist" if name == str(path) else f"{name} does not exist at {path}"


def closest(name: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the existing names of which `name` may be a misspelling."""
    by_fold: dict[str, str] = {}
    for column in columns:
        by_fold.setdefault(column.strip().casefold(), column)
    alike = difflib.get_close_matches(name.strip().casefold(), by_fold, n=3)
    return tuple(by_fold[fold] for fold in alike)


def meant(name: str, names: Sequence[str], otherwise: str) -> str:
    """Return a question with the names that may be meant; `otherwise` if none is similar."""
    close = closest(name, names)
    return f"did you mean {listed(close)}?" if close else otherwise


WORD_JOINER = "\u2060"

_PUNCTUATION = re.compile(f"[{re.escape(string.punctuation)}]")

_OPTION = re.compile(r",? or (?:by|with) --.+?(?=[;.](?: |$)|, or |\)|$)| \(--[^)]*\)")

_ELSEWHERE = " (screens, in Python and in specs)"

_REPLACED_AFTER_PARSING = re.compile(r"[:@](?=\S)|www(?=\.)", re.IGNORECASE)


def escape_markdown(text: str) -> str:
    r"""Escape text so that Streamlit's markdown shows it unchanged.

    A backslash before punctuation stops everything the parser knows (emphasis, links, HTML, maths,
    ``:red[...]``). Emoji and icon codes and bare addresses are replaced after parsing, when the
    backslashes are gone; an invisible word joiner breaks those.
    """
    joined = _REPLACED_AFTER_PARSING.sub(lambda found: found.group() + WORD_JOINER, " ".join(text.split()))
    return _PUNCTUATION.sub(lambda found: "\\" + found.group(), joined)


def without_options(text: str) -> str:
    """Return a text for a page: keep places on pages, drop the command's options that do the same."""
    return _OPTION.sub("", text.replace(_ELSEWHERE, ""))


def for_pages(text: str, here: str | None = None) -> str:
    """Return a sentence for a page as Streamlit's markdown: :func:`without_options`, and escaped.

    `here`: title of the page that shows it, which the sentence then does not name as a place to go to.
    """
    said = without_options(text)
    if here is not None:
        said = re.sub(rf"\bon (?:{here} or [A-Z]\w+|[A-Z]\w+ or {here})\b", "here", said)
        said = re.sub(rf"\bon {here}\b,? (?=under |as )", "", said)
        said = re.sub(rf"[:,]? on {here}\b", "", said)
    return escape_markdown(said)


def for_python(text: str) -> str:
    """Return a text for Python: drop places on pages, turn the command's options into functions' arguments.

    Sentences name the place on a page and the option of the command that mend a fault: ``on Data, under Leave
    out, or by --exclude age=`` becomes ``by exclude=[('age', '')]``.
    """
    return with_arguments(text, _argument)


def with_arguments(text: str, argument: Callable[[re.Match[str]], str]) -> str:
    """Return a text without places on pages, whose options of the command `argument` rewords.

    Its match has three groups: the option's name, and its value with or without quotation marks, or None.
    """
    return _COMMAND_OPTION.sub(argument, without_places(text.replace(_ELSEWHERE, "")))


def without_places(text: str) -> str:
    """Return a text for the command: keep its options, drop places on pages that do the same."""
    return _PLACE.sub(r"\1", text)


_PLACE = re.compile(r"(?:on|under) [A-Z][^;:.()]*?,? or ((?:by|with) --)")
_COMMAND_OPTION = re.compile(
    r"--([a-z]+(?:-[a-z]+)*)(?: '([^']*)'|(?:[= ](?=[\w“+:.]*[=:+])|(?<=--missing) |(?<=--leave-out) )"
    r"([^\s;,)]*[^\s;,.)](?:,-?\d+(?:\.\d+)?)*)?)?"
)
"""An option with its value, if any: a list in quotation marks, a value with a column's name, or a word.

After a value further numbers may follow, as edges of ranges do.
"""
_PAIRS = {"drop": "filters=grasp.Filters(drop=[{}])", "exclude": "exclude=[{}]", "keep": "keep=[{}]"}
"""Options that take pairs of a column and a value, as Python's arguments."""
_ARGUMENTS = {
    "axis": "axes=",
    "within": "strata=",
    "leave-out": "screens=",
    "exclude-rater": "filters=grasp.Filters(raters=...)",
    "annotations": "the annotations",
    "bins": "recode=[grasp.Bins(...)]",
    "map": "recode=[grasp.MapValues(...)]",
}
"""Arguments by option, if their names differ; all other arguments have the option's name."""


def _argument(found: re.Match[str]) -> str:
    name, several, value = found.groups()
    if name.startswith("exclude-") and several is not None:
        return f"filters=grasp.Filters({name.removeprefix('exclude-')}s={several.split(',')})"
    if several is not None:
        return f"{name}={several.split(',')}"
    if name in _PAIRS:
        column, _, cell = (value or "column=value").partition("=")
        return _PAIRS[name].format(f"({column!r}, {cell!r})")
    if name == "intersect" and value:
        return f"axes=[{tuple(value.split(':'))}]"
    if name in _ARGUMENTS:
        beside = f" of {value}" if name == "bins" and value else ""
        return _ARGUMENTS[name] + (repr([value]) if name == "leave-out" and value else beside)
    argument = f"{name.replace('-', '_')}="
    return argument + (repr([value] if name == "missing" else value) if value else "")


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text, emphasised or not."""

    text: str
    strong: bool = False


def strong(text: str) -> Segment:
    """A stretch with emphasis."""
    return Segment(text, strong=True)


@dataclass(frozen=True, slots=True)
class Sentence:
    """Segments in reading order; blanks and punctuation are part of them."""

    segments: tuple[Segment, ...]

    @classmethod
    def of(cls, *parts: str | Segment) -> Sentence:
        """Build from plain strings and segments; empty strings are left out."""
        return cls(tuple(Segment(part) if isinstance(part, str) else part for part in parts if part != ""))

    @property
    def plain(self) -> str:
        """The text without emphasis."""
        return "".join(segment.text for segment in self.segments)

    @property
    def capitalized(self) -> Sentence:
        """The sentence with a capital first letter, unless its first word has capitals of its own."""
        first, *rest = self.segments
        word = first.text.split(" ")[0]
        text = first.text if word != word.lower() else first.text[:1].upper() + first.text[1:]
        return Sentence((Segment(text, first.strong), *rest))

    @property
    def for_pages(self) -> Sentence:
        """The sentence without options of the command."""
        return self._worded(without_options)

    @property
    def for_python(self) -> Sentence:
        """The sentence for Python, by :func:`for_python`."""
        return self._worded(for_python)

    def _worded(self, words: Callable[[str], str]) -> Sentence:
        return Sentence(tuple(Segment(words(one.text), one.strong) for one in self.segments))

    @property
    def markdown(self) -> str:
        """The sentence as Streamlit markdown, with every segment escaped."""
        return self.marked(escape_markdown)

    def marked(self, escape: Callable[[str], str]) -> str:
        """Return Markdown with each segment escaped by `escape`; blanks stay outside the emphasis."""
        parts = []
        for one in self.segments:
            lead = " " if one.text[:1].isspace() else ""
            trail = " " if len(one.text) > 1 and one.text[-1:].isspace() else ""
            escaped = escape(one.text)
            parts.append(f"{lead}{f'**{escaped}**' if one.strong and escaped else escaped}{trail}")
        return "".join(parts)


_BLANKS = "\t\n\v\f\r\x1c-\x1f\x85\u2028\u2029"

_DIRECTIONS = "\u202a-\u202e\u2066-\u2069"

_NOT_TEXT = "\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff"

_NAME_LIMIT = 200
"""Most characters of a name that are shown; renderers take minutes for very long names."""

_BLANK = re.compile(f"[{_BLANKS}]")

_UNSEEN = re.compile(f"[{_DIRECTIONS}{_NOT_TEXT}]")

_UNSEEN_IN_JSON = re.compile(f"(?!\n)[{_DIRECTIONS}{_NOT_TEXT}\u2028\u2029]")


def printable(text: str) -> str:
    """Return text with blanks for tabs and line breaks, and ``[U+202E]`` etc. for other invisible characters.

    Invisible are control characters, halves of surrogate pairs and noncharacters, which XML and Excel
    refuse, and characters that change the reading direction of the text after them.
    """
    return _UNSEEN.sub(lambda found: f"[U+{ord(found.group()):04X}]", _BLANK.sub(" ", text))


def printable_name(name: str) -> str:
    """Return a name made :func:`printable`, cut to the length that is shown."""
    shown = printable(name)
    return shown if len(shown) <= _NAME_LIMIT else f"{shown[: _NAME_LIMIT - 1]}…"


def json_text(plain: Any) -> str:
    """Return indented JSON with invisible characters escaped, so that it can be shown and encoded."""
    text = json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False)
    return _UNSEEN_IN_JSON.sub(lambda found: f"\\u{ord(found.group()):04x}", text) + "\n"


def printable_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Apply :func:`printable_name` to each name."""
    return tuple(printable_name(name) for name in names)


_FORMULA = re.compile("(^|;)(?=[=+\\-@\uff1d\uff0b\uff0d\uff20\t\r\n])")
"""Start of a text that a spreadsheet would run as a formula, full-width characters included. It may follow
a semicolon, since spreadsheets of many countries split a line there."""


def safe_cell(text: str) -> str:
    """Return text that a spreadsheet shows and does not run."""
    return _FORMULA.sub(r"\1'", text)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]], *, end: str = "\n") -> str:
    """Return a CSV file with a header; each line ends with `end`."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator=end)
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()
