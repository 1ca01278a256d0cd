"""Labels of one or several questions: each is judged by its own cells, and all share the missing texts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from grasp_core.model.data_spec import DataSpec, MapValues, Question
from grasp_core.model.text import listed, quoted
from grasp_core.reading.dataset.recoding import counts
from grasp_core.reading.guess import values
from grasp_core.reading.guess.advice import Advice, Reading, Reason
from grasp_core.reading.table.table import Table

_WRITTEN = "it is written as for no value"


@dataclass(frozen=True, slots=True)
class Labels:
    """A question's labels."""

    place: int  # its position among the questions of the spec
    cells: Mapping[str, int]  # counts of its labels
    # texts that mean "no value" by these alone; other questions may have them as labels
    missing: tuple[str, ...] = ()

    def alone(self, spec: DataSpec) -> DataSpec:
        """Return the reading of this question by itself."""
        return spec.questions[self.place]

    def judged(self, spec: DataSpec) -> DataSpec:
        """Return the reading of this question by itself, without all texts that mean "no value" in it."""
        missing = dict.fromkeys([*spec.missing, *self.missing])
        return replace(self.alone(spec), missing=tuple(missing))


def by_question(table: Table, spec: DataSpec) -> tuple[Labels, ...]:
    """Return the questions in the order of the file's columns: the order of their names changes nothing."""
    columns = {name: place for place, name in enumerate(table.columns)}
    found = enumerate(spec.questions)
    in_file = sorted(found, key=lambda one: columns.get(str(one[1].label), len(columns)))
    return tuple(Labels(place, counts([table], None, one)) for place, one in in_file)


def missing_of(
    questions: Sequence[Labels], spec: DataSpec, axes: Mapping[str, Sequence[str]]
) -> tuple[DataSpec, list[Reason], tuple[Labels, ...]]:
    """Return the reading with texts for "no value" that no other question has as labels, and why."""
    judged, found = [], []
    for one in questions:
        own, reasons = values.guess_missing(one.cells, one.alone(spec), axes)
        judged.append(replace(one, missing=own.missing))
        texts = own.missing[len(spec.missing) :]
        found += [*zip(texts, _said_of(questions, own, reasons), strict=True)]
    shared = [(text, why) for text, why in found if not _with_label(judged, text)]
    missing = dict.fromkeys([*spec.missing, *(text for text, _ in shared)])
    return replace(spec, missing=tuple(missing)), [why for _, why in shared], tuple(judged)


def one_label_of(questions: Sequence[Labels], spec: DataSpec, declared: Collection[str]) -> Reading:
    """Return the reading with each question's labels of one meaning merged, and why."""
    steps, reasons = list[MapValues](), list[Reason]()
    for one in questions:
        own = one.judged(spec)
        merged, why = values.one_label(one.cells, own, declared)
        column = own.label if spec.further else None
        new = merged.recode[len(own.recode) :]
        steps += [replace(step, column=column) for step in new if isinstance(step, MapValues)]
        reasons += _said_of(questions, own, why)
    return replace(spec, recode=(*spec.recode, *steps)), reasons


def unanswered(
    questions: Sequence[Labels], table: Table, spec: DataSpec, declared: Collection[str]
) -> Iterator[Advice]:
    """Advise on labels that may stand for no answer; recommended only if no question has them as labels."""
    found: dict[str, list[tuple[Labels, Advice]]] = {}
    for one in questions:
        own = one.judged(spec)
        written = (text for text in one.missing if text not in {*spec.missing, *declared})
        advice = [
            *(Advice("missing", str(own.label), (text,), _WRITTEN, one.cells[text]) for text in written),
            *values.advise_missing(one.cells, table, own, declared),
        ]
        if not spec.further:
            yield from advice
        for piece in advice if spec.further else ():
            found.setdefault(piece.values[0], []).append((one, piece))
    for text, pieces in found.items():
        by_why: dict[str, list[str]] = {}
        for _, piece in pieces:
            by_why.setdefault(piece.why, []).append(piece.column)
        doubted = {one.place for one, _ in pieces}
        plain = [one for one in _with_label(questions, text) if one.place not in doubted]
        if plain:
            out_of = listed([piece.column for _, piece in pieces])
            why = f"it is a label like the others (recoding can take it out of {out_of} alone)"
            by_why[why] = [str(one.alone(spec).label) for one in plain]
        yield replace(
            pieces[0][1],
            why="; ".join(f"in {listed(columns)} {why}" for why, columns in by_why.items()),
            count=sum(one.cells.get(text, 0) for one in questions),
            recommended=not plain and all(piece.recommended for _, piece in pieces),
            of=tuple(piece.column for _, piece in pieces),
        )


def with_vocabularies(
    questions: Sequence[Labels], table: Table, spec: DataSpec, declared: Collection[str]
) -> tuple[DataSpec, list[Reason], bool]:
    """Return the reading with the labels of each question's type, why, and whether all are ordered."""
    categories: dict[int, tuple[str, ...] | None] = {}
    reasons, ranked = list[Reason](), list[bool]()
    for one in questions:
        own = one.alone(spec)
        others = {*spec.labels} - {own.label}
        recode = (step for step in spec.recode if not (isinstance(step, MapValues) and step.column in others))
        named, why, ordered = values.with_vocabulary(table, replace(own, recode=tuple(recode)), declared)
        categories[one.place] = named.categories
        reasons += why
        ranked.append(ordered)
    further = (Question(one.label, categories[place]) for place, one in enumerate(spec.further, 1))
    return replace(spec, categories=categories[0], further=tuple(further)), reasons, all(ranked)


def spelled_alike_in(
    questions: Sequence[Labels], spec: DataSpec, declared: Collection[str]
) -> Iterator[Advice]:
    """Advise on each question's spellings of labels; of several questions each is recoded by itself."""
    for one in questions:
        own = one.alone(spec)
        if own.categories is None:
            plain = {
                text: n for text, n in one.cells.items() if text not in own.missing and text not in declared
            }
            label = str(own.label) if own.label is not None else "label"
            yield from values.advise_alike(plain, label, group=bool(spec.further))


def _said_of(questions: Sequence[Labels], own: DataSpec, reasons: Sequence[Reason]) -> list[Reason]:
    """Return the reasons, with the name of the question if there are several."""
    if len(questions) == 1:
        return [*reasons]
    return [replace(one, sentence=f"{quoted(str(own.label))}: {one.sentence}") for one in reasons]


def _with_label(questions: Sequence[Labels], text: str) -> list[Labels]:
    """Return the questions with this text as a label, also beside others that mean an answer."""
    return [
        one
        for one in questions
        if text in one.cells and text not in one.missing and not all(map(values.like_missing, one.cells))
    ]
