"""Atom feeds (RFC 4287) of watches: no rater data, and no group under 5 raters by name."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET  # nothing is read, only written
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from uuid import UUID, uuid5

from grasp_core.store.watches.feeds import Feed
from grasp_core.store.watches.records import Watch
from grasp_core.watches.history import Step
from grasp_core.watches.words import EVERY, state

MEDIA_TYPE = "application/atom+xml"
MOST = 50
"""Entries that a feed has."""
_ATOM = "http://www.w3.org/2005/Atom"
_OURS = UUID("9d2b1f5e-6a04-4f0e-9c55-0d6f3f1f6b7a")
"""What ids of entries are made below, so that they are the same each time and nobody else's."""
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class _Entry:
    id: str
    at: float
    title: str
    sentences: tuple[str, ...]
    link: str


def atom(feed: Feed, found: Sequence[tuple[Watch, list[Step]]], *, home: str, own: str) -> bytes:
    """The feed as XML.

    Parameters
    ----------
    feed : Feed
    found : sequence of (Watch, list of Step)
        The feed's watches with their steps, without small groups.
    home : str
        Address of the pages, without a slash at the end.
    own : str
        Address of the feed itself.
    """
    entries = [entry for watch, steps in found for entry in _entries(watch, steps, home)]
    entries = sorted(entries, key=lambda one: (-one.at, one.id))[:MOST]
    title = found[0][0].title if feed.watch is not None and found else "Watches"
    ET.register_namespace("", _ATOM)
    root = ET.Element(f"{{{_ATOM}}}feed")
    _text(root, "id", _id("feed", feed.id))
    _text(root, "title", f"GRASP: {title}")
    _text(root, "updated", _moment(max([feed.created_at, *(one.at for one in entries)])))
    _text(ET.SubElement(root, f"{{{_ATOM}}}author"), "name", "GRASP")
    _link(root, "self", own, MEDIA_TYPE)
    _link(root, "alternate", f"{home}/watch", "text/html")
    for entry in entries:
        _add(root, entry)
    written: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def _entries(watch: Watch, steps: Iterable[Step], home: str) -> Iterable[_Entry]:
    for step in steps:
        told = f"Watched {EVERY[watch.every]}." if step.number == 0 else step.headline
        yield _Entry(
            _id(watch.id, f"step {step.number}"),
            step.at,
            f"{watch.title}: {told}",
            (told, *step.details),
            f"{home}/results?run={step.run_id}",
        )
    if watch.paused is not None and watch.paused_at is not None:
        told = f"{state(watch)} The page Watch says more."
        yield _Entry(
            _id(watch.id, f"paused {watch.paused_at!r}"),
            watch.paused_at,
            f"{watch.title}: {told}",
            (told,),
            f"{home}/watch",
        )


def _add(root: ET.Element, entry: _Entry) -> None:
    made = ET.SubElement(root, f"{{{_ATOM}}}entry")
    _text(made, "id", entry.id)
    _text(made, "title", entry.title)
    _text(made, "updated", _moment(entry.at))
    _link(made, "alternate", entry.link, "text/html")
    content = _text(made, "content", "".join(f"<p>{escape(one)}</p>" for one in entry.sentences))
    content.set("type", "html")


def _text(parent: ET.Element, name: str, text: str) -> ET.Element:
    made = ET.SubElement(parent, f"{{{_ATOM}}}{name}")
    made.text = _UNWRITABLE.sub("\ufffd", text)
    return made


def _link(parent: ET.Element, relation: str, address: str, media_type: str) -> None:
    ET.SubElement(parent, f"{{{_ATOM}}}link", rel=relation, href=address, type=media_type)


def _id(*names: str) -> str:
    return uuid5(_OURS, "\n".join(names)).urn


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
