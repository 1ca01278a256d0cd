"""Potato: what it keeps per annotator, and its exports as JSON Lines, CSV, TSV and Parquet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from grasp_core.errors import DataError
from grasp_core.io.files import delimited, encodings, json_records
from grasp_core.io.files.json_records import Record
from grasp_core.io.formats.shapes import rows
from grasp_core.io.formats.shapes.rows import Row, joined, want_list, want_object, want_scalar
from grasp_core.io.formats.tools.potato_tables import (
    ITEM,
    OLD,
    RATER,
    TEXT,
    Answered,
    Given,
    first,
    from_table,
    is_table,
    option_values,
    wordy,
)
from grasp_core.io.table.parsed import Parsed
from grasp_core.wording import agree, listed, number, quoted

_KIND = "Potato"
_STATE = "instance_id_to_label_to_value"
_ANSWERS = ("label_annotations", "labels")
_FILES = ("user_state.json", "annotated_instances.jsonl", "annotated_instances.json")
_TABLES = ("annotated_instances.csv", "annotated_instances.tsv")
_NO, _MARKS = frozenset({"", "false", "none", "null"}), frozenset({"true", "on", "0", "1"})
_OWN_WORDS = frozenset({"free_response", "other", "text_box"})
_ENOUGH = 10
"""Fewer answers do not tell free text from options."""
_TIME = re.compile(r"(\d+)d (\d+)h (\d+)m (\d+)s")


def read(records: Sequence[Record], name: str) -> Parsed | None:
    """A row per item and annotator of a state or of JSON Lines; None where they are not Potato's.

    Raises
    ------
    DataError
        Naming the record that is damaged, or if the file does not say whose answers it holds.
    """
    if not _is_potato(records):
        return None
    answered = list(_from_records(records, name, None))
    return _parsed(answered, name, f"{_KIND}, JSON")


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """A row per item and annotator of a CSV, TSV or Parquet export; None where it is not Potato's."""
    if not is_table(parsed.columns):
        return None
    return _parsed(from_table(parsed, None), name, f"{_KIND}, {parsed.kind}")


def read_archive(names: Sequence[str], member: Callable[[str], bytes], name: str) -> Parsed | None:
    """The answers of all annotators, a folder each; None where the archive is not Potato's."""
    folders: dict[str, list[str]] = {}
    for path in names:
        parts = PurePosixPath(path).parts
        if len(parts) > 1 and parts[-1] in (*_FILES, *_TABLES):
            folders.setdefault(parts[-2], []).append(path)
    answered: list[Answered] = []
    read = 0
    for rater, paths in folders.items():
        for path in sorted(paths, key=lambda path: (*_FILES, *_TABLES).index(PurePosixPath(path).name)):
            found = _from_member(member(path), f"{name}, {path}", rater)
            if found is not None:
                answered += found
                read += 1
                break
    return _parsed(answered, name, f"{_KIND}, zip") if read else None


def _from_member(content: bytes, where: str, rater: str) -> list[Answered] | None:
    text, _, _ = encodings.to_utf8(content, where)
    if where.endswith(_TABLES):
        parsed = delimited.parse(text, where, lambda _done, _total: None)
        known = any(OLD in column for column in parsed.columns) and first(ITEM, parsed.columns)
        return from_table(parsed, rater) if known else None
    # A state is one record, whatever lists it holds.
    state = where.endswith("user_state.json")
    records, _ = json_records.records(b"[" + text + b"]" if state else text, where)
    return list(_from_records(records, where, rater)) if _is_potato(records) else None


def _is_potato(records: Sequence[Record]) -> bool:
    if not records:
        return False
    record = records[0]
    if _STATE in record:
        return True
    return bool(first(ITEM, record)) and (
        "label_annotations" in record or {"user_id", "labels", "spans"} <= record.keys()
    )


# JSON


def _from_records(records: Sequence[Record], name: str, folder: str | None) -> Iterable[Answered]:
    for line, record in enumerate(records, start=1):
        where = f"{name}, record {line}"
        rater = folder or want_scalar(record.get(first(RATER, record) or ""), where, "the annotator")
        if not rater:
            raise DataError(
                f"{where}: it does not say which annotator answered; pack the folders of all annotators, "
                "as they are in 'annotation_output', into one zip archive"
            )
        if _STATE in record:
            yield from _from_state(record, rater, where)
            continue
        item = want_scalar(record.get(first(ITEM, record) or ""), where, "the item's id")
        raw = next((record[field] for field in _ANSWERS if field in record), None)
        shown = first(TEXT, record)
        about = {"text": json_records.text(record[shown])} if shown else {}
        seconds = _seconds(record.get("behavioral_data"))
        yield Answered(line, item, rater, _given(raw, where), about, seconds)


def _from_state(state: Record, rater: str, where: str) -> Iterable[Answered]:
    times = state.get("instance_id_to_behavioral_data")
    for item, raw in want_object(state[_STATE], where, quoted(_STATE)).items():
        spent = _seconds(times.get(item)) if isinstance(times, dict) else {}
        yield Answered(1, item, rater, _given(raw, f"{where}, item {quoted(item)}"), {}, spent)


def _given(raw: Any, where: str) -> Given:
    """Questions and options of one answer, in any of the forms that versions of Potato write."""
    if raw is None:
        return {}
    if isinstance(raw, list):
        return _given_pairs(raw, where)
    given: Given = {}
    for question, options in want_object(raw, where, "the answers").items():
        inner = (
            options.get("labels") if isinstance(options, dict) and list(options) == ["labels"] else options
        )
        given[question] = option_values(inner)
    return given


def _given_pairs(raw: list[Any], where: str) -> Given:
    """The form of states: a list of a label, which is an object of schema and name, and its value."""
    given: Given = {}
    for pair in raw:
        if len(want_list(pair, where, "an answer")) != 2:
            raise rows.damaged(where, "an answer", pair, "a label and its value")
        label = want_object(pair[0], where, "a label")
        question = want_scalar(label.get("schema"), where, "a label's schema")
        option = want_scalar(label.get("name"), where, "a label's name")
        given.setdefault(question, {})[option] = json_records.text(pair[1])
    return given


def _seconds(behaviour: Any) -> dict[str, str]:
    """How long the annotator looked at the item, where Potato kept it."""
    if not isinstance(behaviour, dict):
        return {}
    told = behaviour.get("time_string")
    found = _TIME.search(told) if isinstance(told, str) else None
    if found:
        days, hours, minutes, seconds = (int(part) for part in found.groups())
        return {"seconds": str(((days * 24 + hours) * 60 + minutes) * 60 + seconds)}
    spent = behaviour.get("time_spent")
    return {"seconds": spent} if isinstance(spent, str) and spent else {}


# Questions


def _parsed(answered: Sequence[Answered], name: str, kind: str) -> Parsed:
    kept = [one for one in answered if one.given]
    if not kept:
        raise DataError(
            f"{name} is an export of Potato without answers; export it again after annotation, "
            "spans alone are not read"
        )
    options: dict[str, dict[str, set[str]]] = {}
    for one in kept:
        for question, given in one.given.items():
            for option, value in given.items():
                options.setdefault(question, {}).setdefault(option, set()).add(value)
    choices = {question for question, values in options.items() if _is_choice(values)}
    found = [
        Row(one.line, one.item, one.rater, _answers(one.given, choices, options), one.about, one.extra)
        for one in kept
    ]
    if _are_free_texts(found):
        raise DataError(
            f"{name}: its {agree(len(options), 'question', 'questions')} {listed(list(options))} "
            f"{agree(len(options), 'has', 'have')} free texts as answers, which nobody gives twice, so "
            "there is no agreement to measure; a question with options or a rating would do"
        )
    done = ["the options chosen for a question are in one column; spans are left out"]
    empty = len(answered) - len(kept)
    if empty:
        done.append(f"{number(empty, 'item')} without an answer left out")
    return rows.parsed(found, name=name, kind=kind, sentences=done)


def _are_free_texts(found: Iterable[Row]) -> bool:
    answers: dict[str, list[str]] = {}
    for row in found:
        for question, answer in row.answers.items():
            answers.setdefault(question, []).append(answer)
    return bool(answers) and all(map(_is_free_text, answers.values()))


def _is_free_text(answers: Sequence[str]) -> bool:
    """Whether there are enough answers to tell that they are prose and hardly ever the same."""
    said = [answer for answer in answers if answer]
    return len(said) >= _ENOUGH and wordy(said) and len(set(said)) > 0.9 * len(said)


def _is_choice(values: Mapping[str, set[str]]) -> bool:
    """Whether a question's options are marked as chosen, rather than filled in."""
    return all(_is_mark(option, texts) for option, texts in values.items() if option not in {"", *_OWN_WORDS})


def _is_mark(option: str, texts: set[str]) -> bool:
    said = {text for text in texts if text.casefold() not in _NO}
    if {text.casefold() for text in said} <= _MARKS or said == {option}:
        return True
    return (
        len(said) == 1 and next(iter(said)).isdigit()
    )  # each option has its number, older versions store that


def _answers(
    given: Given, choices: set[str], options: Mapping[str, Mapping[str, set[str]]]
) -> dict[str, str]:
    """One column per question with options, one per field of others."""
    answers: dict[str, str] = {}
    for question, values in given.items():
        if question in choices:
            answers[question] = values.get("") or joined(_chosen(values))
            values = {option: text for option, text in values.items() if option in _OWN_WORDS}
        alone = len(options[question]) == 1
        for option, text in values.items():
            answers[question if alone or not option else f"{question}.{option}"] = text
    return {question: text for question, text in answers.items() if question}


def _chosen(values: Mapping[str, str]) -> list[str]:
    """Options that are marked; 0 marks one only where it stands alone, as the number of an option."""
    said = {option: text for option, text in values.items() if option and option not in _OWN_WORDS}
    said = {option: text for option, text in said.items() if text.casefold() not in _NO}
    marked = {option: text for option, text in said.items() if text != "0"} or (
        said if len(said) == 1 else {}
    )
    return [text if option.startswith("scale_") else option for option, text in marked.items()]
