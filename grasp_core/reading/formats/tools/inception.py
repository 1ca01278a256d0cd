"""INCEpTION and WebAnno: document-level labels in a project's export."""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any
from xml.parsers import expat

from grasp_core.model.errors import DataError
from grasp_core.model.text import listed, quoted
from grasp_core.reading.archives.containers import ZIP, Archive
from grasp_core.reading.files import encodings, json_files
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes.rows import Export, scalar
from grasp_core.reading.table.table import Parsed

_FIELDS, _TYPE, _KEY = "%FEATURE_STRUCTURES", "%TYPE", "key"
_NOT_RATERS = frozenset({"INITIAL_CAS", "CURATION_USER", "CORRECTION_USER"})
_BUILT_IN = (
    "uima.",
    "de.tudarmstadt.ukp.clarin.webanno.api.type.",
    "de.tudarmstadt.ukp.dkpro.core.",
    "de.tudarmstadt.ukp.inception.",
)
_XMI_ID = "http://www.omg.org/XMI id"
_DAMAGED = "{} is a UIMA CAS that is damaged or cut off; export the project again"
_CHOOSE = "export the project again and choose 'UIMA CAS JSON 0.4' or 'UIMA CAS XMI' as the format"

Structure = dict[str, Any]  # a feature structure: its type, and its features with values


def read(records: Sequence[Record], name: str) -> Parsed | None:
    """Refuse the CAS of a single document, which one annotator made; None for other files."""
    if _structures(records, name) is None:
        return None
    raise DataError(
        f"{name} holds one annotator's annotations of one document (UIMA CAS); "
        "read the zip archive of the whole project's export instead"
    )


def read_archive(archive: Archive) -> Parsed | None:
    """Return a row per document and annotator of a project's export; None for other archives."""
    # annotation/<document>/<annotator>.<format>, in any folder
    name, members = archive.name, {path: PurePosixPath(path).parts for path in archive.names}
    is_project = any(parts[-1].startswith("exportedproject") for parts in members.values())
    of_documents, of_spans = (Export(name, "INCEpTION, zip") for _ in range(2))
    layers: set[str] = set()
    unread: list[str] = []
    for path, parts in members.items():
        rater = PurePosixPath(path).stem
        if parts[-3:-2] != ("annotation",) or rater in _NOT_RATERS:
            continue
        found, rater = _unpacked(archive.member(path), rater, f"{name}, {path}")
        if found is None:
            if not is_project and not of_documents.rows:
                return None
            unread.append(path)
            continue
        text, labels, whole = _labels(found, layers)
        about = {"text": text} if text else {}
        for export, answers in ((of_documents, labels), (of_spans, whole)):
            export.add(len(export.rows) + 1, parts[-2], rater, answers, about)
    if not of_documents.rows:
        if not unread:
            return None
        raise DataError(f"{name} is a project of INCEpTION; {quoted(unread[0])} cannot be read; {_CHOOSE}")
    chosen = of_documents
    if not any(row.answers for row in of_documents.rows):
        chosen = of_spans
        chosen.said.append(
            "no layer is one of document metadata, so annotations that span a whole text count"
        )
    if not any(row.answers for row in chosen.rows):
        spans = f"its layers {listed(sorted(layers))} mark spans"
        raise DataError(
            f"{name} holds no label of a document as a whole, "
            f"{spans if layers else 'it has no layer with annotations'}; "
            "label documents with a layer of the type 'document metadata'"
        )
    chosen.said.append(
        "labels of whole documents were read, one row per document and annotator; spans are left out"
    )
    chosen.say("{n:file} in another format left out", len(unread))
    return chosen.table()


def _unpacked(content: bytes, rater: str, where: str) -> tuple[list[Structure] | None, str]:
    """Return a member's structures, or None, and its annotator, whom an archive inside may name."""
    if content.startswith(ZIP):
        inner = Archive(content, where)
        able = [path for path in inner.names if path.endswith((".xmi", ".json"))]
        if len(able) != 1:
            return None, rater
        rater, content = PurePosixPath(able[0]).stem, inner.member(able[0])
    start = content[:1024].removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"{"):
        records, _ = json_files.records(encodings.to_utf8(content, where)[0], where)
        return _structures(records, where), rater
    is_xmi = start.startswith(b"<?xml") and b"omg.org/XMI" in content[:65_536]
    return _xmi(content, where) if is_xmi else None, rater


def _structures(records: Sequence[Record], where: str) -> list[Structure] | None:
    """Return feature structures as :func:`json_files.records` reads them, in a list or object, or None."""
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
    """Return the feature structures of a CAS in XMI; refuse a document type, which could define entities."""
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


_Labels = dict[str, list[str]]


def _labels(structures: Sequence[Structure], layers: set[str]) -> tuple[str, _Labels, _Labels]:
    """Return a document's text, its labels, and labels of spans over the whole text; note `layers`."""
    told = (one.get("sofaString") for one in structures if one.get(_TYPE) == "uima.cas.Sofa")
    text = next(told, None)
    text = text if isinstance(text, str) else ""
    whole = ("0", str(len(text.encode("utf-16-le", "surrogatepass")) // 2))  # in the units of UIMA
    of_document: _Labels = {}
    of_span: _Labels = {}
    for one in structures:
        kind = one.get(_TYPE)
        if not isinstance(kind, str) or kind.startswith(_BUILT_IN) or "@sofa" not in one:
            continue
        layer = kind.rpartition(".")[2]
        layers.add(layer)
        if "begin" in one and not (text and (str(one["begin"]), str(one.get("end"))) == whole):
            continue
        into = of_span if "begin" in one else of_document
        for feature, value in one.items():
            if feature[:1] not in ("%", "@", "^") and feature not in ("begin", "end") and scalar(value):
                into.setdefault(f"{layer}.{feature}", []).append(scalar(value) or "")
    return text, of_document, of_span
