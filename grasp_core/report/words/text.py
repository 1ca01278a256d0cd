"""Text with emphasis, kept apart from any markup so that names from the data stay inert."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass

WORD_JOINER = "\u2060"
_PUNCTUATION = re.compile(f"[{re.escape(string.punctuation)}]")
_OPTION = re.compile(r",? or (?:by|with) --.+?(?=[;.](?: |$)|, or |\)|$)| \(--[^)]*\)")
_ELSEWHERE = " (screens, in Python and in specs)"
_REPLACED_AFTER_PARSING = re.compile(r"[:@](?=\S)|www(?=\.)", re.IGNORECASE)


def escape_markdown(text: str) -> str:
    r"""Make text show as itself in Streamlit's markdown.

    Notes
    -----
    A backslash before punctuation stops everything the parser knows (emphasis, links, HTML, maths,
    ``:red[...]``). Emoji and icon codes and bare addresses are replaced after parsing, when the
    backslashes are gone; an invisible word joiner breaks those.
    """
    joined = _REPLACED_AFTER_PARSING.sub(lambda found: found.group() + WORD_JOINER, " ".join(text.split()))
    return _PUNCTUATION.sub(lambda found: "\\" + found.group(), joined)


def without_options(text: str) -> str:
    """A text for a page: its places stay, and the options of the command that do the same go."""
    return _OPTION.sub("", text.replace(_ELSEWHERE, ""))


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text, emphasised or not."""

    text: str
    strong: bool = False


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
        """Without emphasis."""
        return "".join(segment.text for segment in self.segments)

    @property
    def for_pages(self) -> Sentence:
        """Without options of the command."""
        return Sentence(tuple(Segment(without_options(one.text), one.strong) for one in self.segments))

    @property
    def markdown(self) -> str:
        """As Streamlit markdown, every segment escaped."""
        return "".join(_segment_markdown(segment) for segment in self.segments)


def _segment_markdown(segment: Segment) -> str:
    lead = " " if segment.text[:1].isspace() else ""
    trail = " " if len(segment.text) > 1 and segment.text[-1:].isspace() else ""
    escaped = escape_markdown(segment.text)
    return f"{lead}**{escaped}**{trail}" if segment.strong and escaped else f"{lead}{escaped}{trail}"
