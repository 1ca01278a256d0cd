"""Responses in a record of Argilla: by user, by question, or in columns of a data set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from grasp_core.io.files.json_records import Record
from grasp_core.io.formats.shapes.rows import damaged, want_list, want_object

_RESPONSES, _USERS, _STATUS = ".responses", ".responses.users", ".responses.status"


@dataclass(frozen=True, slots=True)
class Response:
    """A user's answer to one question; `status` is empty where the export has none."""

    question: str
    user: Any
    value: Any
    status: Any


def is_record(record: Record) -> bool:
    """Whether a record holds responses in one of these ways."""
    if isinstance(record.get("fields"), dict) and isinstance(record.get("responses"), list | dict):
        return True
    return any(f"{question}{_USERS}" in record for question in _columns(record)) or bool(_of_users(record))


def _columns(record: Record) -> list[str]:
    """Questions that are columns, as 2.x writes them."""
    return [key.removesuffix(_RESPONSES) for key in record if key.endswith(_RESPONSES)]


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


def responses(record: Record, where: str) -> Iterator[Response]:
    """Each user's answer to each question, drafts and discarded ones with them.

    Raises
    ------
    DataError
        If something is not of its kind, naming `where` it is.
    """
    if "fields" in record or "responses" in record:
        want_object(record.get("fields"), where, "'fields'")
        given = record.get("responses")
        yield from _by_question(given, where) if isinstance(given, dict) else _by_user(given, where)
        return
    questions = _columns(record)
    for question in questions:
        yield from _of_columns(record, question, where)
    for question in [] if questions else _of_users(record):
        yield from _with_users(question, record[question], where)


def _by_user(given: Any, where: str) -> Iterator[Response]:
    for response in want_list([] if given is None else given, where, "'responses'"):
        response = want_object(response, where, "a response")
        if "user_id" not in response:
            raise damaged(where, "'user_id' of a response", None, "the user's id")
        values = want_object(response.get("values") or {}, where, "'values' of a response")
        for question, value in values.items():
            if isinstance(value, dict) and "value" in value:
                value = value["value"]
            yield Response(question, response["user_id"], value, response.get("status"))


def _by_question(given: dict[str, Any], where: str) -> Iterator[Response]:
    for question, responses in given.items():
        yield from _with_users(question, want_list(responses, where, f"the responses to {question!r}"), where)


def _with_users(question: str, given: Any, where: str) -> Iterator[Response]:
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
        yield Response(question, response["user_id"], response["value"], response.get("status"))


def _of_columns(record: Record, question: str, where: str) -> Iterator[Response]:
    values = record[question + _RESPONSES]
    if values is None:
        return
    users = record.get(question + _USERS)
    statuses = record.get(question + _STATUS)
    listed_values = want_list(values, where, f"'{question}{_RESPONSES}'")
    yield from _zipped(
        question, users, listed_values, [None] * len(listed_values) if statuses is None else statuses, where
    )


def _zipped(question: str, users: Any, values: Any, statuses: Any, where: str) -> Iterator[Response]:
    lists = [
        want_list(users, where, f"the users of {question!r}"),
        want_list(values, where, f"the responses to {question!r}"),
        want_list(statuses, where, f"the statuses of {question!r}"),
    ]
    if len({len(entries) for entries in lists}) > 1:
        found = ", ".join(str(len(entries)) for entries in lists)
        raise damaged(where, f"users, responses and statuses of {question!r}", found, "as many of each")
    for user, value, status in zip(*lists, strict=True):
        yield Response(question, user, value, status)


# What they say
