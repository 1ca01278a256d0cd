"""Project exports of INCEpTION and WebAnno; LeWiDi and perspectivist JSON.

Samples written by hand after https://github.com/apache/uima-uimaj-io-jsoncas (CAS JSON), XMI as
https://github.com/dkpro/dkpro-cassis reads it, and the folders that AnnotationDocumentExporter writes in
https://github.com/inception-project/inception.
"""

import json
from typing import Any
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given

from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import load
from grasp_core.reading.formats.tools import lewidi
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from tests.reading import exports
from tests.reading.exports import cells, table_of
from tests.zips import zipped

USERS = ("ann", "bob", "cem", "dot")
TEXT = "It rains 🌧."
VOTES = {"a.txt": "YYNN", "b.txt": "NYNY"}
DKPRO = "de.tudarmstadt.ukp"
WHOLE = {"begin": 0, "end": 12, "documentTitle": "a.txt"}


def cas(labels: dict[str, Any] | None, *more: dict[str, Any]) -> dict[str, Any]:
    """A CAS with a document-level layer `webanno.custom.Stance`."""
    about = f"{DKPRO}.dkpro.core.api.metadata.type.DocumentMetaData"
    structures: list[dict[str, Any]] = [
        {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaNum": 1, "sofaID": "_InitialView", "sofaString": TEXT},
        {"%ID": 2, "%TYPE": about, "@sofa": 1, **WHOLE},
        {"%ID": 3, "%TYPE": f"{DKPRO}.clarin.webanno.api.type.CASMetadata", "@sofa": 1, "username": "x"},
        {"%ID": 4, "%TYPE": "webanno.custom.Span", "@sofa": 1, "begin": 3, "end": 8, "kind": "weather"},
        {"%ID": 5, "%TYPE": "webanno.custom.LinkType", "role": "p1", "@target": 4},
    ]
    if labels is not None:
        structures.append({"%ID": 6, "%TYPE": "webanno.custom.Stance", "@sofa": 1, **labels})
    return {
        "%TYPES": {"webanno.custom.Stance": {"%NAME": "webanno.custom.Stance"}},
        "%FEATURE_STRUCTURES": [*structures, *more],
        "%VIEWS": {"_InitialView": {"%SOFA": 1, "%MEMBERS": [2, 3, 4, 6]}},
    }


def xmi(labels: dict[str, str], before: str = "") -> bytes:
    features = "".join(f" {name}={quoteattr(value)}" for name, value in labels.items())
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>{before}'
        '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore" '
        'xmlns:custom="http:///webanno/custom.ecore" xmi:version="2.0">'
        '<cas:NULL xmi:id="0"/>'
        f'<custom:Stance xmi:id="6" sofa="1"{features}><custom:inner>x</custom:inner></custom:Stance>'
        '<custom:Span xmi:id="4" sofa="1" begin="3" end="8" kind="weather"/>'
        f'<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" sofaString={quoteattr(TEXT)}/>'
        '<cas:View sofa="1" members="6 4"/></xmi:XMI>'
    ).encode()


def expected() -> list[tuple[str, str, str]]:
    return [
        (document, user, {"Y": "yes", "N": "no"}[vote])
        for document, votes in VOTES.items()
        for user, vote in zip(USERS, votes, strict=True)
    ]


def project(form: str = "json", **more: bytes) -> bytes:
    members: dict[str, bytes] = {"exportedproject123.json": b"{}", "source/a.txt": TEXT.encode()}
    for document, user, vote in expected():
        folder = f"annotation/{document}"
        as_xmi = xmi({"stance": vote})
        if form == "json":
            members[f"{folder}/{user}.json"] = json.dumps(cas({"stance": vote})).encode()
        elif form == "xmi":
            members[f"{folder}/{user}.xmi"] = as_xmi
        else:
            inner = zipped({f"{user}.xmi": as_xmi, "TypeSystem.xml": b"<?xml version='1.0'?><t/>"})
            members[f"{folder}/webanno123{user}export.zip"] = inner
    members["annotation/a.txt/INITIAL_CAS.json"] = json.dumps(cas(None)).encode()
    members["curation/a.txt/CURATION_USER.json"] = json.dumps(cas({"stance": "yes"})).encode()
    return zipped(members | more)


@pytest.mark.parametrize("form", ["json", "xmi", "zip"])
def test_a_project(form: str) -> None:
    table = read_table(project(form), "project.zip")
    assert table.kind == "INCEpTION, zip"
    assert cells(table, "item", "rater", "Stance.stance") == expected()
    assert table.cell("text", 0) == TEXT
    summary = exports.loaded(table).summary
    assert (summary.items, summary.raters, summary.annotations) == (2, 4, 8)
    assert (summary.categories, summary.label_counts) == (("no", "yes"), (4, 4))


def test_labels_of_documents_are_their_features() -> None:
    files = {"annotation/a.txt/bob.json": json.dumps(cas(None)).encode()}
    table = read_table(one(cas({"stance": "yes"}), **files), "p.zip")
    assert cells(table, "rater", "Stance.stance") == [("ann", "yes"), ("bob", "")]
    second = {"%ID": 9, "%TYPE": "webanno.custom.Stance", "@sofa": 1, "stance": "also"}
    table = read_table(one(cas({"stance": "yes", "sure": True, "@to": 4}, second)), "p.zip")
    assert cells(table, "Stance.stance", "Stance.sure") == [("also + yes", "True")]
    assert "Stance.@to" not in table.columns
    whole = cas({"stance": "yes"})
    whole["%FEATURE_STRUCTURES"] = {str(one["%ID"]): one for one in whole["%FEATURE_STRUCTURES"]}
    assert cells(read_table(one(whole), "p.zip"), "Stance.stance") == [("yes",)]
    whole = {"%ID": 9, "%TYPE": "webanno.custom.Whole", "@sofa": 1, "begin": 0, "end": 12, "tone": "sad"}
    table = read_table(one(cas(None, whole)), "p.zip")
    assert cells(table, "Whole.tone") == [("sad",)]
    assert "span a whole text" in exports.recipe_of(table).sentences[0]


def one(content: Any, ending: str = "json", **more: bytes) -> bytes:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return zipped({"exportedproject1.json": b"{}", f"annotation/a.txt/ann.{ending}": body, **more})


def test_what_has_no_labels_of_documents_is_refused_with_what_to_choose() -> None:
    with pytest.raises(DataError, match=r"p\.zip holds no label of a document as a whole, its layers 'Span'"):
        read_table(one(cas(None)), "p.zip")
    with pytest.raises(DataError, match=r"choose 'UIMA CAS JSON 0\.4' or 'UIMA CAS XMI'"):
        read_table(one(b"#FORMAT=WebAnno TSV 3.3\n", "tsv"), "p.zip")
    with pytest.raises(DataError, match="one annotator's annotations of one document"):
        read_table(json.dumps(cas({"stance": "yes"})).encode(), "a.json")


def test_documents_that_are_damaged_or_declare_entities_are_refused() -> None:
    entities = '<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">'
    for before in (f"<!DOCTYPE x [{entities}]>", '<!DOCTYPE x SYSTEM "file:///etc/passwd">'):
        with pytest.raises(DataError, match="declares a document type"):
            read_table(one(xmi({"stance": "yes"}, before), "xmi"), "p.zip")
    cut_off = {"xmi": xmi({"stance": "yes"})[:-20], "json": json.dumps(cas({"stance": "yes"})).encode()[:-20]}
    for ending, broken in cut_off.items():
        with pytest.raises(DataError, match=rf"p\.zip, annotation/a\.txt/ann\.{ending}"):
            read_table(one(broken, ending), "p.zip")
    for encoding in (b"ATF-8", b"hex", b"utf-7", b"big5"):
        content = xmi({"stance": "yes"}).replace(b"UTF-8", encoding)
        assert encoding in content
        with pytest.raises(DataError, match=r"p\.zip"):
            read_table(one(content, "xmi"), "p.zip")


def test_other_archives_are_left_alone() -> None:
    table = read_table(zipped({"annotation/a/ann.csv": b"item,rater,label\ni,r,x\n"}), "other.zip")
    assert table.recipe is None
    assert table.columns == ("item", "rater", "label")


@given(exports.mangled([cas({"stance": "yes"})]))
def test_nothing_breaks_it(records: list[dict[str, Any]]) -> None:
    exports.read_or_refused(one(records[0] if records else {}), "p.zip")


@given(exports.damaged(xmi({"stance": "yes"})))
def test_nothing_breaks_xmi(content: bytes) -> None:
    exports.read_or_refused(one(content, "xmi"), "p.zip")


# LeWiDi and perspectivist JSON.
#
# Samples written by hand after the readme of LeWiDi_3-2025 in https://github.com/Le-Wi-Di/le-wi-di.github.io,
# and the 2nd edition's description, https://aclanthology.org/2023.semeval-1.314/.
RATERS = ("Ann1", "Ann2", "Ann3", "Ann4")
SPLIT = {"split": "train", "lang": "en", "other_info": {"source": "reddit"}}


def third(post: str, reply: str, **annotations: str) -> dict[str, Any]:
    """A record of the third edition; one of its ids has a blank before it."""
    raters = {"annotators": ",".join(annotations), "number of annotators": len(annotations)}
    given_labels = {key if key != "Ann2" else " Ann2": label for key, label in annotations.items()}
    about = {"annotation task": "irony detection", "text": {"post": post, "reply": reply}, **SPLIT}
    soft = {"soft_label": {"0.0": 0.5, "1.0": 0.5}}
    return {**about, **raters, "number of annotations": len(annotations), "annotations": given_labels, **soft}


def second(text: str, annotations: str, **other_info: Any) -> dict[str, Any]:
    """A record of the second edition, annotated by four."""
    about = {"text": text, "annotation task": "hate speech detection", "disagreement": "1", "hard_label": "0"}
    raters = {"number of annotations": 4, "annotators": ",".join(RATERS), "soft_label": {"0": 0.5, "1": 0.5}}
    return {**about, **raters, "annotations": annotations, **SPLIT, "other_info": other_info}


THIRD = {
    "0": third("It rains.", "Lovely.", Ann1="1", Ann2="1", Ann3="0", Ann4="0"),
    "7": third("Monday.", "Great.", Ann1="0", Ann2="1", Ann4="1"),
}
FURTHER = {"other annotations": {"offensive language detection": "0,1,1,1", "too short": "0,1"}}
SECOND = {"1": second("a tweet", "0,0,1,1", **FURTHER), "2": second("another", "1,0,1,0")}
META = {
    "Ann1": {"Gender": "Female", "Age": "26", "Nationality": "Kenya"},
    "Ann2": {"Gender": "Female", "Age": "30", "Nationality": "Kenya"},
    "Ann3": {"Gender": "Male", "Age": "DATA_EXPIRED", "Nationality": "Peru"},
    "Ann4": {"Gender": "Male", "Age": "NaN", "Nationality": "Peru"},
}


def test_annotations_as_an_object_or_a_text() -> None:
    table = table_of(THIRD, "MP_train.json")
    assert table.kind == "LeWiDi, JSON"
    assert cells(table, "item", "rater", "label")[1] == ("0", "Ann2", "1")
    assert len(table) == 7
    assert [table.row(at) for at in range(7)] == [1, 1, 1, 1, 2, 2, 2]
    assert table.cell("text", 0) == "post: It rains.\nreply: Lovely."
    dataset = exports.loaded(table)
    assert dataset.summary.label_counts == (3, 4)
    assert (dataset.summary.items, dataset.summary.raters) == (2, 4)
    table = table_of(SECOND)
    assert cells(table, "rater", "label", "offensive language detection")[:4] == [
        *(("Ann1", "0", "0"), ("Ann2", "0", "1"), ("Ann3", "1", "1"), ("Ann4", "1", "1"))
    ]
    assert "too short" not in table.columns
    assert exports.loaded(table).summary.annotations == 8


def test_annotators_become_a_raters_file() -> None:
    raters = table_of(META, "MP_annotators_meta.json")
    assert raters.kind == "LeWiDi annotators, JSON"
    assert raters.columns == ("rater", "Gender", "Age", "Nationality")
    assert exports.recipe_of(raters).axes == (("Gender",), ("Nationality",))
    annotations = table_of(THIRD)
    dataset = load(annotations, raters, recognise(annotations, raters).spec, ("Gender", "Age"))
    assert dataset.raters.axes["Age"].codes.tolist() == [0, 1, -1, -1]
    assert dataset.raters.axes["Gender"].codes.tolist() == [0, 0, 1, 1]


def test_several_labels_of_an_annotator() -> None:
    """The annotators are listed as often as they chose a label."""
    several = third("It rains.", "Wet.", Ann1="entailment", Ann2="neutral,contradiction", Ann3="neutral")
    told = {"annotators": "Ann1,Ann2,Ann2,Ann3", "number of annotations": 4}
    soft = {"soft_label": {"neutral": {"0": 0.3, "1": 0.7}}}
    assert cells(table_of({"138448": several | told | soft}), "item", "rater", "label") == [
        ("138448", "Ann1", "entailment"),
        ("138448", "Ann2", "contradiction + neutral"),
        ("138448", "Ann3", "neutral"),
    ]


def test_numbers_of_annotators_are_those_of_the_annotations() -> None:
    """Two of the third edition's files: numbers for ids, and commas that nothing follows."""
    numbers = ",\n".join(
        f'"{key.removeprefix("Ann")}": {{"Gender": "{one["Gender"]}", "Age": "26,}}",\n}}'
        for key, one in META.items()
    )
    raters = read_table(f"{{\n{numbers},\n}}\n".encode(), "MP_annotators_meta.json")
    assert cells(raters, "rater", "key", "Age")[0] == ("Ann1", "1", "26,}")
    assert exports.recipe_of(raters).axes == (("Gender",),)
    annotations = table_of(THIRD)
    dataset = load(annotations, raters, recognise(annotations, raters).spec, ("Gender",))
    assert dataset.raters.axes["Gender"].codes.tolist() == [0, 0, 1, 1]
    assert table_of({"1": {"Gender": "Man", "Age": 3, "Pets": 2}, "2": {"Gender": "Man"}}).recipe is None


def test_counts_that_do_not_fit_and_test_sets_are_refused_and_other_json_left_alone() -> None:
    wrong = {"1,0,1": "3 annotations of 4 annotators were found", True: "'True' is neither"}
    for found, said in wrong.items():
        with pytest.raises(DataError, match=rf"x\.json, record 2: {said}"):
            table_of({"1": SECOND["1"], "2": {**SECOND["2"], "annotations": found}}, "x.json")
    with pytest.raises(DataError, match="no label in its 1 record"):
        table_of({"1": third("It rains.", "Lovely.", Ann1="", Ann2="")})
    for records in ([{"annotations": [], "id": 1}], [{"item": "a", "rater": "b", "label": "c"}]):
        assert table_of(records).recipe is None
    assert table_of({"a1": {"x": 1, "y": 2}, "a2": {"x": 3, "y": 4}}).recipe is None


def records_of(whole: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, **value} for key, value in whole.items()]


@given(exports.mangled([*records_of(THIRD), *records_of(SECOND)]))
def test_nothing_breaks_the_records(records: list[dict[str, Any]]) -> None:
    exports.survives(lewidi.read, records, "x.json")


@given(exports.mangled(records_of(META)))
def test_nothing_breaks_the_raters(records: list[dict[str, Any]]) -> None:
    found = lewidi.read(records, "x.json")
    assert found is None or found.data.num_rows == len(records)
