"""Argilla's records; Potato's states and exports.

The samples are written by hand after https://docs.argilla.io/en/v1.18.0/conceptual_guides/data_model.html
(1.x records), https://huggingface.co/datasets/vegeta/testargilla (1.x columns),
https://docs.argilla.io/latest/reference/argilla/records/records (2.x) and
https://huggingface.co/datasets/jfcalvo/export-testing-268 (2.x columns, statuses as class labels).
"""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from grasp_core.model.errors import DataError
from grasp_core.reading.formats.tools import argilla, potato
from grasp_core.reading.sandbox.read import read_table
from tests.reading import exports
from tests.reading.exports import cells, table_of
from tests.reading.making import csv_bytes
from tests.zips import zipped

PEOPLE = ("u-ann", "u-ben", "u-cem", "u-dua")
ANSWERS = (("Yes", "Yes", "No", "No"), ("No", "Yes", "No", "Yes"), ("Yes", "No", "Yes", None))
"""What each person answered for records 1 to 3."""
Answers = tuple[str | None, ...]
ABOUT = {"chat": [{"role": "user", "content": "hi"}]}
SUBMITTED = {"status": "submitted"}
BY_MODEL = {"value": "No", "agent": "model"}


def fields(number: int) -> dict[str, Any]:
    return {"text": f"Text number {number}", **ABOUT}


def answered(answers: Answers) -> list[tuple[str, str]]:
    return [(user, answer) for user, answer in zip(PEOPLE, answers, strict=True) if answer]


def by_user(number: int, answers: Answers) -> dict[str, Any]:
    """1.x: what each user answered."""
    responses = [
        {"user_id": user, "values": {"toxic": {"value": answer}, "why": {"value": "so"}}, **SUBMITTED}
        for user, answer in answered(answers)
    ]
    ids = {"id": f"server-{number}", "external_id": f"r{number}"}
    about = {"fields": fields(number), "metadata": {"source": "forum"}}
    return {**ids, **about, "responses": responses, "suggestions": [{"question_name": "toxic", **BY_MODEL}]}


def by_question(number: int, answers: Answers) -> dict[str, Any]:
    """2.x, `to_json`: what each question was answered."""
    responses = [{"value": answer, "user_id": user} for user, answer in answered(answers)]
    ids = {"id": f"r{number}", "_server_id": f"server-{number}", "vectors": {}}
    about = {"fields": fields(number), "metadata": {"source": "forum"}, "suggestions": {"toxic": BY_MODEL}}
    return {**ids, **about, "responses": {"toxic": responses}}


def by_column(number: int, answers: Answers, *, submitted: str | int = "submitted") -> dict[str, Any]:
    """2.x, columns of a data set."""
    users, given_answers = zip(*answered(answers), strict=True) if any(answers) else ((), ())
    return {
        **{"id": f"r{number}", "status": "completed", "_server_id": f"server-{number}"},
        **{**fields(number), "source": "forum", "toxic.responses": list(given_answers)},
        **{"toxic.responses.users": list(users), "toxic.responses.status": [submitted] * len(users)},
        **{"toxic.suggestion": "No", "toxic.suggestion.agent": "model"},
    }


def by_class_label(number: int, answers: Answers) -> dict[str, Any]:
    """2.x, with statuses as numbers."""
    return by_column(number, answers, submitted=1)


def of_users(number: int, answers: Answers) -> dict[str, Any]:
    """1.x, columns of a data set."""
    toxic = [{"user_id": user, "value": answer, **SUBMITTED} for user, answer in answered(answers)]
    about = {"external_id": f"r{number}", "metadata": '{"source": "forum"}'}
    return {**fields(number), "toxic": toxic, "toxic-suggestion": "No", **about}


def of_lists(number: int, answers: Answers) -> dict[str, Any]:
    """1.x, a question's column as an object of lists."""
    record = of_users(number, answers)
    keys = ("user_id", "value", "status")
    return record | {"toxic": {key: [entry[key] for entry in record["toxic"]] for key in keys}}


Form = Callable[[int, Answers], dict[str, Any]]
FORMS: tuple[Form, ...] = (by_user, by_column, by_class_label, of_users, of_lists)


def sample(form: Form) -> list[dict[str, Any]]:
    return [form(number, answers) for number, answers in enumerate(ANSWERS, start=1)]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_a_row_per_record_and_user(form: Form) -> None:
    table = table_of(sample(form))
    assert table.kind == "Argilla, JSON"
    assert table.columns[:3] == ("item", "rater", "toxic")
    assert not {name for name in table.columns if "suggestion" in name or "chat" in name}
    expected = [(f"r{n}", *given) for n, answers in enumerate(ANSWERS, 1) for given in answered(answers)]
    assert cells(table, "item", "rater", "toxic") == expected
    assert [table.row(position) for position in (0, 4, 10)] == [1, 2, 3]
    assert (exports.spec_of(table).label, exports.spec_of(table).text) == ("toxic", "text")
    assert exports.recipe_of(table).sentences == ()
    data = exports.loaded(table)
    assert dict(zip(data.summary.categories, data.summary.label_counts, strict=True)) == {"No": 5, "Yes": 6}


def test_what_is_not_submitted_is_left_out_and_said() -> None:
    records = sample(by_user)
    records[0]["responses"][0]["status"] = "draft"
    records[0]["responses"][1]["status"] = "discarded"
    records[1]["responses"][0]["user_id"] = None
    table = table_of(records)
    assert len(table) == 8
    assert exports.recipe_of(table).sentences == (  # two questions each
        "4 responses that were not submitted were left out",
        "2 annotations of an unknown annotator were left out",
    )


@pytest.mark.parametrize("form", [by_column, by_class_label, of_users, of_lists], ids=lambda f: f.__name__)
def test_parquet_gives_what_json_gives(form: Form) -> None:
    """Columns hold lists of answers and of objects; a record without answers has none."""
    records = [*sample(form), form(4, (None,) * 4)]
    ours, theirs = table_of(records), read_table(exports.parquet(records), "records.parquet")
    assert theirs.kind == "Argilla, Parquet"
    assert exports.spec_of(theirs) == exports.spec_of(ours)
    shown = [name for name in ours.columns if name in theirs.columns]
    assert shown[:3] == ["item", "rater", "toxic"]
    assert cells(theirs, *shown) == cells(ours, *shown)
    assert [theirs.row(position) for position in (0, 4, 10)] == [1, 2, 3]


def column(name: str, answers: list[Any], status: list[str]) -> dict[str, Any]:
    return {name: answers, f"{name}.users": list(PEOPLE), f"{name}.status": status}


def test_parquet_leaves_out_drafts_and_reads_every_kind_of_question() -> None:
    status = ["submitted", "draft", "discarded", "submitted"]
    kinds, spans = [["threat", "insult"], ["slur"], [], ["insult"]], [{"start": 0, "end": 3, "label": "X"}]
    record = {
        "id": "r1",
        **column("stars.responses", [1, 2, 3, 4], status),
        **column("kinds.responses", kinds, status),
        **column("marks.responses", [spans, [], [], []], ["submitted"] * 4),
    }
    table = read_table(exports.parquet([record]), "records.parquet")
    assert cells(table, "item", "rater", "stars", "kinds") == [
        ("r1", "u-ann", "1", "insult + threat"),
        ("r1", "u-dua", "4", "insult"),
    ]
    assert "marks" not in table.columns
    assert exports.recipe_of(table).sentences[:2] == (
        "4 responses that were not submitted were left out",
        "questions whose answers cannot be read were left out: 'marks'",
    )


def test_nested_records_without_statuses_are_refused() -> None:
    """2.x never writes them there: drafts would count as answers."""
    with pytest.raises(DataError, match=r"does not say which responses were.*to_list\(flatten=True\)"):
        table_of(sample(by_question))
    records = sample(by_question)
    for record in records:
        for response in record["responses"]["toxic"]:
            response["status"] = "submitted"
    records[0]["responses"]["toxic"][0]["status"] = None
    table = table_of(records)
    assert len(table) == 10
    assert exports.recipe_of(table).sentences == ("1 response without a status was left out",)


def test_an_answer_given_twice_is_refused_and_a_ranking_read() -> None:
    twice = by_column(1, ("Yes", "No", None, None)) | {"toxic.responses.users": ["u-ann", "u-ann"]}
    exports.refused([twice], "record 1: user 'u-ann' answers 'toxic' twice")
    # They are lists like choices, but of all options in an order.
    record = by_column(1, ("Yes",) * 4)
    ranked = record | {"toxic.responses": [["b", "a"], ["a", "b"], [], ["a", "b"]]}
    assert cells(table_of([ranked]), "toxic") == [("b > a",), ("a > b",), ("",), ("a > b",)]
    chosen = record | {"toxic.responses": [["b", "a"], ["a", "b"], ["a"], []]}
    assert cells(table_of([chosen]), "toxic") == [("a + b",), ("a + b",), ("a",), ("",)]


def test_every_kind_of_answer() -> None:
    ranking = [{"value": "b", "rank": 1}, {"value": "a", "rank": 2}, {"value": "c", "rank": 2}]
    spans = [{"label": "X", "start": 0, "end": 4}]
    given_answers = {"stars": 4, "kinds": ["threat", "insult"], "order": ranking, "marks": spans}
    values = {name: {"value": value} for name, value in {**given_answers, "why": "so", "no": None}.items()}
    response = {"user_id": "u", "values": values, "status": "submitted"}
    table = table_of([{"fields": fields(1), "responses": [response]}])
    assert table.columns == ("item", "rater", "stars", "kinds", "order", "why", "no", "text")
    assert cells(table, *table.columns[:7]) == [("1", "u", "4", "insult + threat", "b > a = c", "so", "")]
    assert (
        "questions whose answers cannot be read were left out: 'marks'" in exports.recipe_of(table).sentences
    )


def test_damage_is_one_sentence_that_names_the_record() -> None:
    def second(form: Form, record: dict[str, Any], said: str) -> None:
        exports.refused([form(1, ANSWERS[0]), record], "record 2: ", said)

    def by_answer(value: Any) -> dict[str, Any]:
        order = [{"user_id": "u", "value": value, **SUBMITTED}]
        return {"fields": {}, "responses": {"order": order}}

    second(by_user, {"responses": []}, "'fields' should be an object, found nothing")
    second(by_user, {"fields": {}, "responses": "x"}, "'responses' should be a list, found 'x'")
    second(by_user, {"fields": {}, "responses": [{"values": {}}]}, "should be the user's id, found nothing")
    unsigned = {"fields": {}, "responses": {"a": [{"value": "No"}]}}
    second(by_question, unsigned, "with 'user_id' and 'value'")
    record = by_column(2, ANSWERS[1])
    second(by_column, record | {"toxic.responses.users": ["u"]}, "as many of each, found '1, 4, 4'")
    second(by_column, record | {"toxic.responses.users": None}, "the users of 'toxic' should be a list")
    answers = {"toxic.responses": [{}, "No", "No", "No"]}
    exports.refused([record | answers], "its question 'toxic' cannot be read")
    exports.refused([by_answer([{"value": "a", "rank": "first"}])], "its question 'order' cannot be read")
    marked = [{"start": 0, "end": 1, "label": "a"}]
    exports.refused([by_answer(marked)], "cannot be read, as those that mark spans")
    exports.refused([by_user(1, (None,) * 4)], "is an export without annotations (Argilla, JSON)")


def test_other_records_and_files_are_left_alone() -> None:
    values = ({"fields": {"text": "a"}}, {"responses": ["a"]}, {"toxic.responses": ["Yes"]})
    for record in (*values, {"toxic": [{"value": "Yes"}]}):
        assert argilla.read([record], "other.json") is None, record
    assert table_of([{"id": "i", "labels": {"a": 1}}]).recipe is None
    assert read_table(b"user,item,label\nu,i,x\n", "a.csv").recipe is None
    assert read_table(zipped({"a/annotated_instances.jsonl": b'{"x": 1}\n'}), "a.zip").recipe is None


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_mangled_records(form: Form) -> None:
    @given(exports.mangled(sample(form)[:2]))
    def check(records: list[dict[str, Any]]) -> None:
        exports.survives(argilla.read, records, "records.json")

    check()


# Potato's states and exports.
#
# Samples written by hand after https://github.com/davidjurgens/potato, docs/data-export/export_formats.md
# (states, CSV, JSON Lines, Parquet) and, for version 1 with `schema:::label`, docs/data_format.md.
USERS = ("ann", "bob", "cem", "dot")
VOTES = {"i1": ("pos", "pos", "neg", "neg"), "i2": ("neg", "pos", "neg", "pos")}


def pairs() -> list[tuple[str, str, str]]:
    return [(item, user, vote) for item, own in VOTES.items() for user, vote in zip(USERS, own, strict=True)]


def labels(user: str, vote: str) -> dict[str, Any]:
    why = {"text_box": f"because {user}"}
    return {"tone": {vote: "true"}, "likert": {"scale_3": "3"}, "why": why}


def exported() -> list[dict[str, Any]]:
    """annotations.jsonl of the export command."""
    return [
        {"instance_id": item, "user_id": user, "labels": labels(user, vote), "spans": {}, "links": {}}
        for item, user, vote in pairs()
    ]


def version_1(user: str | None = None) -> list[dict[str, Any]]:
    """annotated_instances.jsonl, of all annotators or of one."""
    about = {"span_annotations": {}, "behavioral_data": {"time_string": "Time spent: 0d 0h 1m 5s "}}
    records = []
    for item, who, vote in pairs():
        ids = {"user": who, "instance_id": item} if user is None else {"id": item}
        tone = {"tone": {vote: {"pos": "1", "neg": "2"}[vote]}}
        if user in (None, who):
            records.append({**ids, "displayed_text": f"text {item}", "label_annotations": tone, **about})
    return records


def state(user: str) -> dict[str, Any]:
    own = {item: [[{"schema": "tone", "name": vote}, True]] for item, who, vote in pairs() if who == user}
    return {
        "user_id": user,
        "instance_id_ordering": ["i1", "i2"],
        "history": [{"lists": "of objects must not be taken for the records"}],
        "instance_id_to_label_to_value": own,
        "instance_id_to_span_to_value": {},
    }


def states() -> bytes:
    """The folders of all annotators, and one more file."""
    members = {f"{user}/user_state.json": json.dumps(state(user)).encode() for user in reversed(USERS)}
    members |= {"exports/readme.txt": b"hello"}
    return zipped({f"annotation_output/{name}": content for name, content in members.items()})


def csv_of(header: str, pos: list[str], neg: list[str], who: str | None = None, delimiter: str = ","):
    """Votes as cells of the columns of both tones, of all annotators or of one."""
    rows = [
        [item, *([user] if who is None else []), f"text {item}", *(pos if vote == "pos" else neg)]
        for item, user, vote in pairs()
        if who in (None, user)
    ]
    return csv_bytes([header.split(","), *rows], delimiter)


def folders(ending: str) -> bytes:
    """As version 1 has them: called as the annotators."""
    header, delimiter = "instance_id,displayed_text,tone:::neg,tone:::pos", "," if ending == "csv" else "\t"
    files = {
        user: exports.lines(version_1(user))
        if ending == "jsonl"
        else csv_of(header, ["", "1"], ["2", ""], user, delimiter)
        for user in USERS
    }
    return zipped({f"task/{user}/annotated_instances.{ending}": own for user, own in files.items()})


OLD_CSV = csv_of("instance_id,user,displayed_text,tone:::pos,tone:::neg", ["1", ""], ["", "2"])
RATES = ["Low", "High", "[]"]
NEW_CSV = csv_of(
    "instance_id,user_id,displayed_text,tone.pos,tone.neg,rate.Urgency,rate.Tone,ner._spans",
    *(["True", "", *RATES], ["", "True", *RATES]),
)


@pytest.mark.parametrize(
    ("content", "name", "kind"),
    [
        (exports.lines(exported()), "annotations.jsonl", "Potato, JSON"),
        (exports.lines(version_1()), "annotated_instances.jsonl", "Potato, JSON"),
        (states(), "potato.zip", "Potato, zip"),
        *((folders(ending), f"{ending}.zip", "Potato, zip") for ending in ("jsonl", "csv", "tsv")),
        *((OLD_CSV, "all.csv", "Potato, CSV"), (NEW_CSV, "annotations.csv", "Potato, CSV")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_form_gives_the_votes(content: bytes, name: str, kind: str) -> None:
    table = read_table(content, name)
    assert table.kind == kind
    assert sorted(cells(table, "item", "rater", "tone")) == sorted(pairs())
    summary = exports.loaded(table).summary
    assert (summary.items, summary.raters, summary.annotations) == (2, 4, 8)
    assert (summary.categories, summary.label_counts) == (("neg", "pos"), (4, 4))


def test_what_the_forms_hold_beside_the_votes() -> None:
    table = read_table(exports.lines(exported()), "annotations.jsonl")
    assert cells(table, "likert", "why")[0] == ("3", "because ann")
    assert table.row(7) == 8
    table = read_table(exports.lines(version_1()), "annotated_instances.jsonl")
    assert cells(table, "text", "seconds")[0] == ("text i1", "65")
    table = read_table(OLD_CSV, "all.csv")
    assert (table.row(0), table.cell("text", 0)) == (2, "text i1")
    table = read_table(NEW_CSV, "annotations.csv")
    assert cells(table, "rate.Urgency", "rate.Tone")[0] == ("Low", "High")
    assert not [column for column in table.columns if "spans" in column]


def test_what_potato_does_not_say_is_refused() -> None:
    with pytest.raises(DataError, match=r"one\.jsonl, record 1: it does not say which annotator"):
        read_table(exports.lines(version_1("ann")), "one.jsonl")
    rows = [["instance_id", "user_id", "rewritten"]]
    rows += [[f"i{at}", f"u{at % 3}", f"Dear all, this is my answer number {at}"] for at in range(12)]
    with pytest.raises(DataError, match="its question 'rewritten' has free texts as answers"):
        read_table(csv_bytes(rows), "a.csv")
    broken = state("ann")
    broken["instance_id_to_label_to_value"]["i2"] = [["tone", True]]
    broken.pop("history")
    with pytest.raises(DataError, match=r"s\.json, record 1, item 'i2': a label should be an object"):
        table_of(broken, "s.json")
    with pytest.raises(DataError, match="without answers"):
        table_of([{"instance_id": "i", "user_id": "u", "labels": {}, "spans": {"ner": []}}])


def test_lists_and_objects_in_cells() -> None:
    """Multiselects are lists in Parquet, and JSON where `datasets` wrote the table."""
    kinds = [["slur", "threat"], None, ["slur"], []]
    expected_kinds = ["slur + threat", "", "slur", ""]
    ids = [{"instance_id": f"i{n // 2}", "user_id": ("ann", "bob")[n % 2]} for n in range(4)]
    lists = [{**one, "tone": "pos", "kinds": chosen} for one, chosen in zip(ids, kinds, strict=True)]
    table = read_table(exports.parquet(lists), "annotations.parquet")
    assert table.kind == "Potato, Parquet"
    assert [kind for (kind,) in cells(table, "kinds")] == expected_kinds
    as_json = (json.dumps(dict.fromkeys(chosen or [], "true")) for chosen in kinds)
    texts = [[*one.values(), '{"pos": "pos"}', text] for one, text in zip(ids, as_json, strict=True)]
    table = read_table(csv_bytes([["instance_id", "user_id", "tone", "kinds"], *texts]), "a.csv")
    assert cells(table, "tone", "kinds") == [("pos", kind) for kind in expected_kinds]


def test_what_raters_or_items_decide_is_no_question() -> None:
    # Demographics that raters decide, texts and gold labels that items decide.
    rows = [["instance_id", "user_id", "gender", "passage", "gold", "age", "mood"]]
    for item, text in enumerate(("a longer text of the first item", "another longer text, of the second")):
        rows.append([f"i{item}", "u0", "Man", text, str(item), "25", "low"])
        rows.append([f"i{item}", "u1", "Woman", text, str(item), "31", "up"])
    table = read_table(csv_bytes(rows), "joined.csv")
    assert exports.spec_of(table).label == "mood"
    assert table.columns[:3] == ("item", "rater", "mood")
    assert {"gender", "passage", "gold", "age"} < set(table.columns)
    header, *rows = [["instance_id", "user_id", "gender"], ["i1", "u1", "Man"], ["i1", "u2", "Woman"]]
    with pytest.raises(DataError, match="without answers"):
        read_table(csv_bytes([header, *rows, ["i2", "u1", "Man"]]), "a.csv")
    table = read_table(csv_bytes([header, *rows, ["i2", "u1", "Woman"]]), "a.csv")
    assert table.columns == ("item", "rater", "gender")


def test_forms_that_an_answer_can_have() -> None:
    given_answers = {
        "box": ({"a": True, "b": False, "c": True}, "a + c"),
        "wrapped": ({"labels": {"yes": True}}, "yes"),
        "listed": (["q", "p"], "p + q"),
        "plain": ("word", "word"),
        "slider": ({"slider": 57}, "57"),
        "tenth": ({"ten": "0"}, "ten"),
    }
    first = {name: answer for name, (answer, _) in given_answers.items()} | {"share": {"A": 40, "B": 60}}
    second = {"slider": {"slider": 3}, "zero": {"on": "1", "off": "0"}, "share": {"A": 10, "B": 90}}
    ids = {"instance_id": "i", "user_id": "u", "spans": {}}
    table = table_of([{**ids, "labels": first}, {**ids, "labels": second}])
    read = {name: text for name, (_, text) in given_answers.items()}
    read |= {"item": "i", "rater": "u", "share.A": "40", "share.B": "60", "zero": ""}
    assert {column: table.cell(column, 0) for column in table.columns} == read
    assert table.cell("zero", 1) == "on"


@given(exports.mangled([*exported()[:3], *version_1()[:3]]))
def test_nothing_breaks_it(records: list[dict[str, Any]]) -> None:
    exports.survives(potato.read, records, "x.jsonl")


@given(exports.mangled([exports.textual(state("ann"))]))
def test_nothing_breaks_archives(records: list[dict[str, Any]]) -> None:
    content = json.dumps(records[0] if records else {}).encode()
    exports.read_or_refused(
        zipped({"out/ann/user_state.json": content, "out/bob/user_state.json": content}), "x.zip"
    )
