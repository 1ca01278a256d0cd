"""INCEpTION and WebAnno: document-level labels in a project's export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any
from xml.parsers import expat

from grasp_core.model.errors import DataError
from grasp_core.model.text import listed, number, quoted
from grasp_core.reading.archives import containers
from grasp_core.reading.files import encodings, json_files
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.rows import Row, joined
from grasp_core.reading.table.parsed import Parsed

_KIND = "INCEpTION"
_FOLDER, _PROJECT = "annotation", "exportedproject"
_FIELDS, _TYPE, _KEY = "%FEATURE_STRUCTURES", "%TYPE", "key"
_NOT_RATERS = frozenset({"INITIAL_CAS", "CURATION_USER", "CORRECTION_USER"})
_SOFA = "uima.cas.Sofa"
_BUILT_IN = (
    "uima.",
    "de.tudarmstadt.ukp.clarin.webanno.api.type.",
    "de.tudarmstadt.ukp.dkpro.core.",
    "de.tudarmstadt.ukp.inception.",
)
_XMI_ID = "http://www.omg.org/XMI id"
_DAMAGED = "{} is a UIMA CAS that is damaged or cut off; export the project again"
_CHOOSE = "export the project again and choose 'UIMA CAS JSON 0.4' or 'UIMA CAS XMI' as the format"

Structure = dict[str, Any]
"""A feature structure: its type, and its features' values."""


@dataclass(slots=True)
class _Document:
    """One annotator's annotations of one document."""

    path: str
    item: str
    rater: str
    text: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    whole_text: dict[str, str] = field(default_factory=dict)
    layers: set[str] = field(default_factory=set)


def read(records: Sequence[Record], name: str) -> Parsed | None:
    """Refuse the CAS of a single document, which one annotator made; None for other files."""
    if _structures(records, name) is None:
        return None
    raise DataError(
        f"{name} holds one annotator's annotations of one document (UIMA CAS); "
        "read the zip archive of the whole project's export instead"
    )


def read_archive(names: Sequence[str], member: Callable[[str], bytes], name: str) -> Parsed | None:
    """A row per document and annotator of a project's export; None for other archives."""
    members = []
    for path in names:  # annotation/<document>/<annotator>.<format>, in any folder
        parts = PurePosixPath(path).parts
        if len(parts) > 2 and parts[-3] == _FOLDER and (rater := PurePosixPath(path).stem) not in _NOT_RATERS:
            members.append(_Document(path, parts[-2], rater))
    if not members:
        return None
    is_project = any(PurePosixPath(path).name.startswith(_PROJECT) for path in names)
    documents: list[_Document] = []
    unread: list[str] = []
    for document in members:
        content = member(document.path)
        found = _unpacked(content, document, f"{name}, {document.path}")
        if found is None and not is_project and not documents:
            return None
        if found is None:
            unread.append(document.path)
        else:
            _collect(found, document)
            documents.append(document)
    if not documents:
        raise DataError(f"{name} is a project of INCEpTION; {quoted(unread[0])} cannot be read; {_CHOOSE}")
    return _parsed(documents, unread, name)


def _unpacked(content: bytes, document: _Document, where: str) -> list[Structure] | None:
    """The feature structures of a member, unpacked first where it is an archive; None for other formats."""
    if content.startswith(containers.ZIP):
        inner = containers.Archive(content, where)
        able = [path for path in inner.names if path.endswith((".xmi", ".json"))]
        if len(able) != 1:
            return None
        # Older versions give the archive a name of its own; the file in it bears the annotator's.
        document.rater = PurePosixPath(able[0]).stem
        content = inner.member(able[0])
    start = content[:1024].removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"{"):
        found, _ = json_files.records(encodings.to_utf8(content, where)[0], where)
        return _structures(found, where)
    if start.startswith(b"<?xml") and b"omg.org/XMI" in content[:65_536]:
        return _xmi(content, where)
    return None


def _structures(records: Sequence[Record], where: str) -> list[Structure] | None:
    """Feature structures as :func:`json_files.records` finds them: a list, an object, or none at all."""
    if not records:
        return None
    first = records[0]
    if isinstance(first.get(_TYPE), str) and "%ID" in first:
        return list(records)
    holder = next((record for record in records if record.get(_KEY) == _FIELDS), None)
    inside = first.get(_FIELDS) if holder is None else {k: v for k, v in holder.items() if k != _KEY}
    if inside is None or (holder is None and "%VIEWS" not in first):
        return None
    found = list(inside.values()) if isinstance(inside, dict) else inside
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise DataError(_DAMAGED.format(where))
    return found


def _xmi(content: bytes, where: str) -> list[Structure]:
    """The feature structures of a CAS in XMI. A document type, which could define entities, is refused."""
    found: list[Structure] = []
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth == 2:
            space, _, local = tag.rpartition(" ")
            package = space.removeprefix("http:///").removesuffix(".ecore").replace("/", ".")
            features = {key: value for key, value in attributes.items() if key not in (_XMI_ID, "sofa")}
            if "sofa" in attributes:
                features["@sofa"] = attributes["sofa"]
            found.append({_TYPE: local if package == "noNamespace" else f"{package}.{local}", **features})

    def end(_tag: str) -> None:
        nonlocal depth
        depth -= 1

    def refuse(*_details: object) -> None:
        raise DataError(f"{where}: this XML declares a document type, which UIMA does not write; {_CHOOSE}")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, ValueError, LookupError):  # LookupError: an encoding that does not exist
        raise DataError(_DAMAGED.format(where)) from None
    return found


def _collect(structures: Sequence[Structure], document: _Document) -> None:
    """Put what the structures say of the document as a whole into `document`."""
    text = next((one.get("sofaString") for one in structures if one.get(_TYPE) == _SOFA), None)
    document.text = text if isinstance(text, str) else ""
    length = len(document.text.encode("utf-16-le", "surrogatepass")) // 2  # in the units of UIMA
    labels: dict[str, list[str]] = {}
    whole_text: dict[str, list[str]] = {}
    for one in structures:
        kind = one.get(_TYPE)
        if not isinstance(kind, str) or kind.startswith(_BUILT_IN) or "@sofa" not in one:
            continue
        layer = kind.rpartition(".")[2]
        document.layers.add(layer)
        if "begin" not in one:
            _add(one, layer, labels)
        elif document.text and (str(one["begin"]), str(one.get("end"))) == ("0", str(length)):
            _add(one, layer, whole_text)
    document.labels = {question: joined(values) for question, values in labels.items()}
    document.whole_text = {question: joined(values) for question, values in whole_text.items()}


def _add(structure: Structure, layer: str, labels: dict[str, list[str]]) -> None:
    for feature, value in structure.items():
        if feature[:1] not in ("%", "@", "^") and feature not in ("begin", "end"):
            cell = rows.scalar(value)
            if cell:
                labels.setdefault(f"{layer}.{feature}", []).append(cell)


def _parsed(documents: Sequence[_Document], unread: Sequence[str], name: str) -> Parsed:
    done: list[str] = []
    of_documents = any(document.labels for document in documents)
    if not of_documents and not any(document.whole_text for document in documents):
        layers = sorted({layer for document in documents for layer in document.layers})
        has = f"its layers {listed(layers)} mark spans" if layers else "it has no layer with annotations"
        raise DataError(
            f"{name} holds no label of a document as a whole, {has}; "
            "label documents with a layer of the type 'document metadata'"
        )
    if not of_documents:
        done.append("no layer is one of document metadata, so annotations that span a whole text count")
    found = [
        Row(
            line,
            document.item,
            document.rater,
            document.labels if of_documents else document.whole_text,
            {"text": document.text} if document.text else {},
        )
        for line, document in enumerate(documents, start=1)
    ]
    done.append("labels of whole documents were read, one row per document and annotator; spans are left out")
    if unread:
        done.append(f"{number(len(unread), 'file')} in another format left out")
    return rows.parsed(found, name=name, kind=f"{_KIND}, zip", sentences=done)
