"""Records of Argilla: 1.x feedback records, 2.x records, and either as columns of a data set.

What is not submitted (drafts, discarded responses) does not count, so an export without statuses is refused.

Formats: https://docs.argilla.io/en/v1.18.0/conceptual_guides/data_model.html and
https://docs.argilla.io/latest/reference/argilla/records/records
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grasp_core.errors import DataError
from grasp_core.io.files.json_records import Record
from grasp_core.io.formats.shapes import rows
from grasp_core.io.formats.shapes.rows import Row, want_scalar
from grasp_core.io.formats.tools.argilla_responses import Response, is_record, responses
from grasp_core.io.table.parsed import Parsed
from grasp_core.remarks.left_out import Skipped
from grasp_core.wording import agree, listed, quoted

_IDS = ("external_id", "id", "_server_id")
_STATUSES = {"0": "draft", "1": "submitted", "2": "discarded"}
"""As numbers, in data sets that keep statuses as class labels."""
_NOT_ABOUT = frozenset({*_IDS, "fields", "responses", "suggestions", "vectors", "metadata", "status"})

RANKED = " > "
"""Between the options of a ranking, the first before the second."""
Key = tuple[int, str, str]
"""Record, user and question."""


def is_export(records: Sequence[Record]) -> bool:
    """Whether the first records are Argilla's."""
    return any(is_record(record) for record in records[: rows.LOOKED_AT])


def read(records: Sequence[Record], name: str, written: str = "JSON") -> Parsed | None:
    """A row per record and user; None for anything that is not Argilla's.

    Parameters
    ----------
    records : sequence of Record
    name : str
    written : str
        What the file is, e.g. "JSON" or "Parquet".

    Raises
    ------
    DataError
        Naming the record that is damaged; if no status is told, or no question can be read.
    """
    if not is_export(records):
        return None
    seen = _Seen()
    for line, record in enumerate(records, start=1):
        _look(record, line, f"{name}, record {line}", seen)
    if seen.skipped[Skipped.WITHOUT_STATUS] and not seen.status:
        raise _no_status(name)
    rankings = _rankings(seen.answers)
    found = _rows(records, name, seen, rankings)
    if seen.unread and not found:
        raise DataError(
            f"{name}: its {agree(len(seen.unread), 'question', 'questions')} {listed(list(seen.unread))} "
            "cannot be read, as those that mark spans; a question with labels or a rating would do"
        )
    kind, said = f"Argilla, {written}", _sentences(seen, rankings)
    return rows.parsed(found, name=name, kind=kind, skipped=seen.skipped, sentences=said)


def _rows(records: Sequence[Record], name: str, seen: _Seen, rankings: Collection[str]) -> list[Row]:
    by_user: dict[tuple[int, str], dict[str, str]] = {}
    for (line, user, question), answer in seen.answers.items():
        if question not in seen.unread:
            by_user.setdefault((line, user), {})[question] = _said(answer, question in rankings)
    return [
        Row(line, _item(records[line - 1], line, name), user, given, _about(records[line - 1]))
        for (line, user), given in by_user.items()
    ]


def _no_status(name: str) -> DataError:
    return DataError(
        f"{name} does not say which responses were submitted and which are drafts or discarded, as nested "
        "records of Argilla 2 ('to_json', 'to_dict', 'to_list') never do; export with the statuses: write "
        "'dataset.records.to_list(flatten=True)' as JSON, or 'dataset.records.to_datasets()' as Parquet"
    )


@dataclass(slots=True)
class _Seen:
    """Submitted answers, what was left out, questions that cannot be read, whether statuses are told."""

    answers: dict[Key, str | list[str]] = field(default_factory=dict)
    skipped: Counter[Skipped] = field(default_factory=Counter)
    unread: dict[str, None] = field(default_factory=dict)
    status: bool = False


def _look(record: Record, line: int, where: str, seen: _Seen) -> None:
    """Note each user's submitted answers, by question."""
    for response in responses(record, where):
        status = _status(response, where)
        seen.status = seen.status or bool(status)
        user = want_scalar(response.user, where, "the user of a response")
        if user in ("", "None"):  # what str() makes of a user that is not known
            seen.skipped[Skipped.UNKNOWN_ANNOTATOR] += 1
        elif not status:
            seen.skipped[Skipped.WITHOUT_STATUS] += 1
        elif status != "submitted":
            seen.skipped[Skipped.UNSUBMITTED] += 1
        else:
            _note(response, (line, user, response.question), where, seen)


def _note(response: Response, key: Key, where: str, seen: _Seen) -> None:
    answer = _answer(response.value)
    if answer is None:
        seen.unread[response.question] = None
    elif key in seen.answers:
        raise DataError(
            f"{where}: user {quoted(key[1])} answers {quoted(response.question)} twice; keep one answer"
        )
    else:
        seen.answers[key] = answer


def _sentences(seen: _Seen, rankings: Collection[str]) -> list[str]:
    said: list[str] = []
    if seen.unread:
        said.append(f"questions whose answers cannot be read were left out: {listed(list(seen.unread))}")
    if rankings:
        said.append(
            f"answers to {listed(list(rankings))} hold the same options in several orders, so they are "
            "rankings"
        )
    return said


# Where the responses are


def _status(response: Response, where: str) -> str:
    status = want_scalar(response.status, where, f"the status of a response to {response.question!r}")
    return _STATUSES.get(status, status)


def _answer(value: Any) -> str | list[str] | None:
    """A text, the options chosen, or None for what is neither, as spans are."""
    text = rows.scalar(value)
    if text is not None or not isinstance(value, list):
        return text
    texts = [rows.scalar(entry) for entry in value]
    told = [text for text in texts if text is not None]
    return told if len(told) == len(texts) else _ranking(value)


def _ranking(value: Sequence[Any]) -> str | None:
    """Options by their rank, as 1.x writes a ranking."""
    ranks: dict[int, list[str]] = {}
    for entry in value:
        fields = entry if isinstance(entry, dict) else {}
        rank, option = rows.scalar(fields.get("rank")), rows.scalar(fields.get("value"))
        if not rank or not rank.isdecimal() or not option:
            return None
        ranks.setdefault(int(rank), []).append(option)
    return RANKED.join(" = ".join(sorted(ranks[rank])) for rank in sorted(ranks))


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


def _said(answer: str | list[str], ranked: bool) -> str:
    if isinstance(answer, str):
        return answer
    return RANKED.join(answer) if ranked else rows.joined(answer)


def _item(record: Record, line: int, name: str) -> str:
    """The user's own id, or Argilla's, or the record's number."""
    where = f"{name}, record {line}"
    texts = [want_scalar(record.get(key), where, f"{key!r}") for key in _IDS]
    return next((text for text in texts if text), str(line))


def _about(record: Record) -> dict[str, str]:
    fields, metadata = record.get("fields"), record.get("metadata")
    about = rows.scalars(fields if isinstance(fields, dict) else {})
    for key, text in rows.scalars(record, leave=_NOT_ABOUT).items():
        if ".suggestion" not in key and "-suggestion" not in key:
            about.setdefault(key, text)
    if isinstance(metadata, dict):
        about |= {f"metadata.{key}": text for key, text in rows.scalars(metadata).items()}
    return about
