"""Argilla: exported records with their responses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grasp_core.model.errors import DataError
from grasp_core.model.remarks.cautions import Skipped
from grasp_core.model.text import agree, listed, quoted
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.lists import structure
from grasp_core.reading.formats.shapes.rows import Row, damaged, want_list, want_object, want_scalar
from grasp_core.reading.table.parsed import Parsed

_RESPONSES, _USERS, _STATUS = ".responses", ".responses.users", ".responses.status"


@dataclass(frozen=True, slots=True)
class _Response:
    """A user's answer to one question; `status` is empty where the export has none."""

    question: str
    user: Any
    value: Any
    status: Any


def _is_record(record: Record) -> bool:
    """Whether a record holds responses in one of these ways."""
    if isinstance(record.get("fields"), dict) and isinstance(record.get("responses"), list | dict):
        return True
    return any(key.endswith(_RESPONSES) and f"{key}.users" in record for key in record) or bool(
        _of_users(record)
    )


def _of_users(record: Record) -> list[str]:
    """Questions whose columns hold responses with their users, as 1.x writes them."""
    found = []
    for key, value in record.items():
        entries = value if isinstance(value, list) else [value]
        if entries and all(
            isinstance(entry, dict) and entry.keys() >= {"user_id", "value"} for entry in entries
        ):
            found.append(key)
    return found


def _responses(record: Record, where: str) -> Iterator[_Response]:
    """Each user's answer to each question, drafts and discarded ones with them."""
    if "fields" in record or "responses" in record:
        want_object(record.get("fields"), where, "'fields'")
        given = record.get("responses")
        if not isinstance(given, dict):
            yield from _by_user(given, where)
            return
        for question, found in given.items():
            yield from _with_users(question, want_list(found, where, f"the responses to {question!r}"), where)
        return
    questions = [key.removesuffix(_RESPONSES) for key in record if key.endswith(_RESPONSES)]
    for question in questions:  # columns, as 2.x writes them
        if (values := record[question + _RESPONSES]) is not None:
            values = want_list(values, where, f"'{question}{_RESPONSES}'")
            statuses = record.get(question + _STATUS)
            statuses = [None] * len(values) if statuses is None else statuses
            yield from _zipped(question, record.get(question + _USERS), values, statuses, where)
    for question in [] if questions else _of_users(record):
        yield from _with_users(question, record[question], where)


def _by_user(given: Any, where: str) -> Iterator[_Response]:
    for response in want_list([] if given is None else given, where, "'responses'"):
        response = want_object(response, where, "a response")
        if "user_id" not in response:
            raise damaged(where, "'user_id' of a response", None, "the user's id")
        values = want_object(response.get("values") or {}, where, "'values' of a response")
        for question, value in values.items():
            if isinstance(value, dict) and "value" in value:
                value = value["value"]
            yield _Response(question, response["user_id"], value, response.get("status"))


def _with_users(question: str, given: Any, where: str) -> Iterator[_Response]:
    """A list of responses, or an object of equally long lists."""
    if isinstance(given, dict) and isinstance(given.get("user_id"), list):
        users, values = given["user_id"], given.get("value")
        statuses = given.get("status") or [None] * len(users)
        yield from _zipped(question, users, values, statuses, where)
        return
    for response in given if isinstance(given, list) else [given]:
        response = want_object(response, where, f"a response to {question!r}")
        if not response.keys() >= {"user_id", "value"}:
            raise damaged(
                where, f"a response to {question!r}", response, "an object with 'user_id' and 'value'"
            )
        yield _Response(question, response["user_id"], response["value"], response.get("status"))


def _zipped(question: str, users: Any, values: Any, statuses: Any, where: str) -> Iterator[_Response]:
    lists = [
        want_list(users, where, f"the users of {question!r}"),
        want_list(values, where, f"the responses to {question!r}"),
        want_list(statuses, where, f"the statuses of {question!r}"),
    ]
    if len({len(entries) for entries in lists}) > 1:
        found = ", ".join(str(len(entries)) for entries in lists)
        raise damaged(where, f"users, responses and statuses of {question!r}", found, "as many of each")
    for user, value, status in zip(*lists, strict=True):
        yield _Response(question, user, value, status)


_IDS = ("external_id", "id", "_server_id")
_STATUSES = {"0": "draft", "1": "submitted", "2": "discarded"}
"""As numbers, in data sets that keep statuses as class labels."""
_NOT_ABOUT = frozenset({*_IDS, "fields", "responses", "suggestions", "vectors", "metadata", "status"})

_RANKED = " > "
"""Between the options of a ranking, the first before the second."""
Key = tuple[int, str, str]
"""Record, user and question."""


def is_export(records: Sequence[Record]) -> bool:
    """Whether the first records are Argilla's."""
    return any(_is_record(record) for record in records[: rows.LOOKED_AT])


def read(records: Sequence[Record], name: str, written: str = "JSON") -> Parsed | None:
    """A row per record and user; None for anything that is not Argilla's.

    `written`: what the file is, e.g. "JSON" or "Parquet".
    """
    if not is_export(records):
        return None
    seen = _Seen()
    for line, record in enumerate(records, start=1):
        _look(record, line, f"{name}, record {line}", seen)
    if seen.skipped[Skipped.WITHOUT_STATUS] and not seen.status:
        raise DataError(
            f"{name} does not say which responses were submitted and which are drafts or discarded, as "
            "nested records of Argilla 2 ('to_json', 'to_dict', 'to_list') never do; export with the "
            "statuses: write 'dataset.records.to_list(flatten=True)' as JSON, or "
            "'dataset.records.to_datasets()' as Parquet"
        )
    rankings = _rankings(seen.answers)
    by_user: dict[tuple[int, str], dict[str, str]] = {}
    for (line, user, question), answer in seen.answers.items():
        if question not in seen.unread:
            several = _RANKED.join if question in rankings else rows.joined
            said = answer if isinstance(answer, str) else several(answer)
            by_user.setdefault((line, user), {})[question] = said
    found = []
    for (line, user), given in by_user.items():
        record, where = records[line - 1], f"{name}, record {line}"
        ids = [want_scalar(record.get(key), where, f"{key!r}") for key in _IDS]
        item = next(filter(None, ids), str(line))  # the user's own id, Argilla's, or the record's number
        found.append(Row(line, item, user, given, _about(record)))
    if seen.unread and not found:
        raise DataError(
            f"{name}: its {agree(len(seen.unread), 'question', 'questions')} {listed(list(seen.unread))} "
            "cannot be read, as those that mark spans; a question with labels or a rating would do"
        )
    kind, sentences = f"Argilla, {written}", _sentences(seen, rankings)
    return rows.parsed(found, name=name, kind=kind, skipped=seen.skipped, sentences=sentences)


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """The columns of a flat export in a table of text, such as CSV; None for other tables."""
    if not any(column.endswith(_USERS) for column in parsed.columns):
        return None
    return read(rows.opened(parsed, structure), name, parsed.kind)


@dataclass(slots=True)
class _Seen:
    """Submitted answers, what was left out, questions that cannot be read, whether statuses are told."""

    answers: dict[Key, str | list[str]] = field(default_factory=dict)
    skipped: Counter[Skipped] = field(default_factory=Counter)
    unread: dict[str, None] = field(default_factory=dict)
    status: bool = False


def _look(record: Record, line: int, where: str, seen: _Seen) -> None:
    """Note each user's submitted answers, by question."""
    for response in _responses(record, where):
        question = response.question
        status = want_scalar(response.status, where, f"the status of a response to {question!r}")
        status = _STATUSES.get(status, status)
        seen.status = seen.status or bool(status)
        user = want_scalar(response.user, where, "the user of a response")
        if user in ("", "None"):  # what str() makes of a user that is not known
            seen.skipped[Skipped.UNKNOWN_ANNOTATOR] += 1
        elif not status:
            seen.skipped[Skipped.WITHOUT_STATUS] += 1
        elif status != "submitted":
            seen.skipped[Skipped.UNSUBMITTED] += 1
        elif (answer := _answer(response.value)) is None:
            seen.unread[question] = None
        elif (line, user, question) in seen.answers:
            raise DataError(f"{where}: user {quoted(user)} answers {quoted(question)} twice; keep one answer")
        else:
            seen.answers[line, user, question] = answer


def _sentences(seen: _Seen, rankings: Collection[str]) -> list[str]:
    said = rows.not_read("questions whose answers cannot be read", seen.unread)
    if rankings:
        said.append(
            f"answers to {listed(list(rankings))} hold the same options in several orders, so they are "
            "rankings"
        )
    return said


def _answer(value: Any) -> str | list[str] | None:
    """A text, the options chosen, or None for what is neither, as spans are."""
    text = rows.scalar(value)
    if text is not None or not isinstance(value, list):
        return text
    told = [one for entry in value if (one := rows.scalar(entry)) is not None]
    if len(told) == len(value):
        return told
    ranks: dict[int, list[str]] = {}  # options by their rank, as 1.x writes a ranking
    for entry in value:
        fields = entry if isinstance(entry, dict) else {}
        rank, option = rows.scalar(fields.get("rank")), rows.scalar(fields.get("value"))
        if not rank or not rank.isdecimal() or not option:
            return None
        ranks.setdefault(int(rank), []).append(option)
    return _RANKED.join(" = ".join(sorted(ranks[rank])) for rank in sorted(ranks))


def _rankings(answers: Mapping[Key, str | list[str]]) -> list[str]:
    """Questions whose answers are lists of the same options in several orders, as 2.x writes rankings."""
    orders: dict[str, set[tuple[str, ...]]] = {}
    for (_, _, question), answer in answers.items():
        if isinstance(answer, list) and answer:
            orders.setdefault(question, set()).add(tuple(answer))
    return [
        question
        for question, found in orders.items()
        if len(found) > 1 and len({tuple(sorted(order)) for order in found}) == 1
    ]


def _about(record: Record) -> dict[str, str]:
    fields, metadata = record.get("fields"), record.get("metadata")
    about = rows.scalars(fields if isinstance(fields, dict) else {})
    for key, text in rows.scalars(record, leave=_NOT_ABOUT).items():
        if ".suggestion" not in key and "-suggestion" not in key:
            about.setdefault(key, text)
    if isinstance(metadata, dict):
        about |= {f"metadata.{key}": text for key, text in rows.scalars(metadata).items()}
    return about
