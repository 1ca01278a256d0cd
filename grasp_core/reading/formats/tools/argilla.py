"""Argilla: exported records with their responses."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grasp_core.model.errors import DataError
from grasp_core.model.remarks.cautions import Skipped
from grasp_core.model.text import agree, listed, quoted
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.list_cells import structure
from grasp_core.reading.formats.shapes.rows import Export, JsonRecord, scalar, scalars
from grasp_core.reading.table.table import Parsed

_RESPONSES, _USERS, _STATUS = ".responses", ".responses.users", ".responses.status"
_IDS = ("external_id", "id", "_server_id")
_STATUSES = {"0": "draft", "1": "submitted", "2": "discarded"}
"""Statuses by number, for data sets that keep them as class labels."""
_NOT_ABOUT = frozenset({*_IDS, "fields", "responses", "suggestions", "vectors", "metadata", "status"})
_RANKED = " > "  # text between the options of a ranking, the best first

_Response = tuple[str, Any, Any, Any]
"""A question, a user, the answer, and a status, None if the export has none."""


def is_export(records: Sequence[Record]) -> bool:
    """Return whether the first records are Argilla's."""
    return any(
        (isinstance(record.get("fields"), dict) and isinstance(record.get("responses"), list | dict))
        or any(key.endswith(_RESPONSES) and f"{key}.users" in record for key in record)
        or _of_users(record)
        for record in records[: rows.LOOKED_AT]
    )


def read(records: Sequence[Record], name: str, written: str = "JSON") -> Parsed | None:
    """Return a row per record and user of a file written as JSON, CSV...; None if it is not Argilla's."""
    if not is_export(records):
        return None
    found = Export(name, f"Argilla, {written}", unreadable="questions whose answers cannot be read")
    answers: dict[tuple[int, str, str], str | list[str]] = {}
    statuses = False
    for line, record in rows.entries(records, name):
        for question, user, value, status in _responses(record):
            status = rows.want_text(status, record.where, f"the status of a response to {question!r}")
            status = _STATUSES.get(status, status)
            statuses = statuses or bool(status)
            user = rows.want_text(user, record.where, "the user of a response")
            key = (line, user, question)
            if user in ("", "None"):  # str() of an unknown user
                found.skipped[Skipped.UNKNOWN_ANNOTATOR] += 1
            elif status != "submitted":
                found.skipped[Skipped.UNSUBMITTED if status else Skipped.WITHOUT_STATUS] += 1
            elif (answer := _answer(value)) is None:
                found.unread[question] = None
            elif key in answers:
                raise DataError(
                    f"{record.where}: user {quoted(user)} answers {quoted(question)} twice; keep one answer"
                )
            else:
                answers[key] = answer
    if found.skipped[Skipped.WITHOUT_STATUS] and not statuses:
        raise DataError(
            f"{name} does not say which responses were submitted and which are drafts or discarded, as "
            "nested records of Argilla 2 ('to_json', 'to_dict', 'to_list') never do; export with the "
            "statuses: write 'dataset.records.to_list(flatten=True)' as JSON, or "
            "'dataset.records.to_datasets()' as Parquet"
        )
    # Lists of the same options in several orders, as 2.x writes rankings.
    orders: dict[str, set[tuple[str, ...]]] = {}
    for (_, _, question), answer in answers.items():
        if isinstance(answer, list) and answer:
            orders.setdefault(question, set()).add(tuple(answer))
    rankings = [one for one, told in orders.items() if len(told) > 1 == len({(*sorted(o),) for o in told})]
    by_user: dict[tuple[int, str], dict[str, str | list[str]]] = {}
    for (line, user, question), answer in answers.items():
        if question not in found.unread:
            ranked = question in rankings and isinstance(answer, list)
            by_user.setdefault((line, user), {})[question] = _RANKED.join(answer) if ranked else answer
    for (line, user), given in by_user.items():
        record = JsonRecord(records[line - 1], f"{name}, record {line}")
        ids = [record.text(key) for key in _IDS]
        item = next(filter(None, ids), str(line))  # the user's own id, Argilla's, or the record's number
        told = scalars(record.fields.get("fields"))
        others = scalars(record.fields, _NOT_ABOUT).items()
        about = {key: text for key, text in others if ".suggestion" not in key and "-suggestion" not in key}
        found.add(line, item, user, given, told | about | told | rows.inside(record.fields, "metadata"))
    if found.unread and not found.rows:
        raise DataError(
            f"{name}: its {agree(len(found.unread), 'question', 'questions')} {listed(list(found.unread))} "
            "cannot be read, as those that mark spans; a question with labels or a rating would do"
        )
    found.say(
        "answers to {questions} hold the same options in several orders, so they are rankings",
        len(rankings),
        questions=tuple(rankings),
    )
    return found.table()


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """Read the columns of a flat export in a table of text, such as CSV; None for other tables."""
    if not any(column.endswith(_USERS) for column in parsed.columns):
        return None
    return read([dict(row.fields) for _, row in rows.rows_of(parsed, name, structure)], name, parsed.kind)


def _of_users(record: Mapping[str, Any]) -> list[str]:
    """Return questions whose columns have responses with their users, as 1.x writes them."""
    several = {key: rows.several(value) for key, value in record.items()}
    return [
        key
        for key, found in several.items()
        if found and all(isinstance(one, dict) and one.keys() >= {"user_id", "value"} for one in found)
    ]


def _responses(record: JsonRecord) -> Iterator[_Response]:
    """Yield each user's answer to each question, including drafts and discarded answers."""
    fields, where = record.fields, record.where
    if "fields" in fields or "responses" in fields:
        record.inner("fields")
        given = fields.get("responses")
        if not isinstance(given, dict):
            yield from _by_user([] if given is None else record.values("responses"), where)
            return
        for question, found in given.items():
            found = rows.want_list(found, where, f"the responses to {question!r}")
            yield from _with_users(question, found, where)
        return
    questions = [key.removesuffix(_RESPONSES) for key in fields if key.endswith(_RESPONSES)]
    for question in questions:  # columns, as 2.x writes them
        if fields[question + _RESPONSES] is not None:
            values = record.values(question + _RESPONSES)
            statuses = fields.get(question + _STATUS)
            statuses = [None] * len(values) if statuses is None else statuses
            yield from _zipped(question, fields.get(question + _USERS), values, statuses, where)
    for question in [] if questions else _of_users(fields):
        yield from _with_users(question, fields[question], where)


def _by_user(given: Sequence[Any], where: str) -> Iterator[_Response]:
    for response in given:
        response = rows.want_object(response, where, "a response")
        if "user_id" not in response:
            raise rows.damaged(where, "'user_id' of a response", None, "the user's id")
        values = rows.want_object(response.get("values") or {}, where, "'values' of a response")
        for question, value in values.items():
            value = value["value"] if isinstance(value, dict) and "value" in value else value
            yield question, response["user_id"], value, response.get("status")


def _with_users(question: str, given: Any, where: str) -> Iterator[_Response]:
    """Yield responses from a list of them, or from an object of equally long lists."""
    if isinstance(given, dict) and isinstance(given.get("user_id"), list):
        users = given["user_id"]
        statuses = given.get("status") or [None] * len(users)
        yield from _zipped(question, users, given.get("value"), statuses, where)
        return
    what = f"a response to {question!r}"
    for response in rows.several(given):
        response = rows.want_object(response, where, what)
        if not response.keys() >= {"user_id", "value"}:
            raise rows.damaged(where, what, response, "an object with 'user_id' and 'value'")
        yield question, response["user_id"], response["value"], response.get("status")


def _zipped(question: str, users: Any, values: Any, statuses: Any, where: str) -> Iterator[_Response]:
    called = {"users of": users, "responses to": values, "statuses of": statuses}
    lists = [rows.want_list(found, where, f"the {what} {question!r}") for what, found in called.items()]
    if len({len(found) for found in lists}) > 1:
        counts = ", ".join(str(len(found)) for found in lists)
        raise rows.damaged(where, f"users, responses and statuses of {question!r}", counts, "as many of each")
    for user, value, status in zip(*lists, strict=True):
        yield question, user, value, status


def _answer(value: Any) -> str | list[str] | None:
    """Return a text, the options chosen, or None for a value that is neither, such as spans."""
    text = scalar(value)
    if text is not None or not isinstance(value, list):
        return text
    told = [one for entry in value if (one := scalar(entry)) is not None]
    if len(told) == len(value):
        return told
    ranks: dict[int, list[str]] = {}  # options by their rank, as 1.x writes a ranking
    for entry in value:
        fields = entry if isinstance(entry, dict) else {}
        rank, option = scalar(fields.get("rank")), scalar(fields.get("value"))
        if not rank or not rank.isdecimal() or not option:
            return None
        ranks.setdefault(int(rank), []).append(option)
    return _RANKED.join(" = ".join(sorted(ranks[rank])) for rank in sorted(ranks))
