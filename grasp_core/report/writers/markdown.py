"""A result's tables as Markdown, for GitHub and other places that know its tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.result import RunResult, SlicesResult
from grasp_core.model.spec import Level
from grasp_core.model.text import WORD_JOINER, Sentence, printable
from grasp_core.report.contents import brackets, marks, not_estimable, run_title
from grasp_core.report.everybody import agreement_tables, in_one_line
from grasp_core.report.findings.mending import Warned
from grasp_core.report.findings.sentences import answer
from grasp_core.report.given import GIVEN_EXPLANATION, given_sentences, given_table
from grasp_core.report.in_numbers import dsi_in_numbers, in_numbers
from grasp_core.report.pair_tables import pairs_in_words
from grasp_core.report.pairs import PAIRS_EXPLANATION, most_told
from grasp_core.report.rater_map import (
    EXPLANATION,
    axes_table,
    distance_words,
    groups_table,
    printable_map,
    sentences,
)
from grasp_core.report.slices import slice_sentences, sliced
from grasp_core.report.tables import label_use_by_group, wide_table, with_label_use
from grasp_core.report.words.label_use import labelled_sentence
from grasp_core.report.words.names import LABEL_USE_EXPLANATION
from grasp_core.report.words.printable import printable_result

_MARKUP = re.compile(r"[\\`*_\[\]<>|~$&!#]")
_LINKED_AFTER_PARSING = re.compile(r"[:@](?=\S)|www(?=\.)", re.IGNORECASE)


def escape_inline(text: str) -> str:
    r"""Text that shows as itself inside a line of Markdown or a cell of its tables.

    A backslash stops what GitHub's parser knows: emphasis, links, HTML, maths, cell borders. Emoji
    codes, mentions and bare addresses are replaced after parsing; an invisible word joiner breaks those.
    """
    escaped = _MARKUP.sub(lambda found: "\\" + found.group(), " ".join(printable(text).split()))
    return _LINKED_AFTER_PARSING.sub(lambda found: found.group() + WORD_JOINER, escaped)


def table_markdown(result: RunResult, found: RaterMap | None = None) -> str:
    """The answer in words, Table 5 with its marks explained, and what else was computed, the map too."""
    result = printable_result(result)
    begun = [
        f"# {escape_inline(run_title(result.spec))}",
        f"{escape_inline(labelled_sentence(result.spec.data, result.data))}.",
        *_answer(result),
    ]
    if result.of_everybody and result.everybody is not None:
        for heading, table in agreement_tables(result.everybody):
            begun += [f"## {escape_inline(heading)}", frame_markdown(table, 1)]
        return "\n\n".join(begun) + "\n"
    line = in_one_line(result)
    parts = [
        *begun,
        *([escape_inline(line)] if line else []),
        frame_markdown(wide_table(result), 2),
        "; ".join(f"{escape_inline(sign)}: {meaning}" for sign, meaning in marks(result.spec.analysis)) + ".",
        *(f"- {escape_inline(sentence)}" for sentence in not_estimable(result)),
    ]
    if result.dsi:
        parts.append(frame_markdown(dsi_in_numbers(result), 2))
    if with_label_use(result):
        parts += [f"{escape_inline(LABEL_USE_EXPLANATION)}", frame_markdown(label_use_by_group(result), 2)]
    if result.pairs:
        parts += _pairs(result)
    for column in result.slices:
        parts += _slices(result, column)
    if result.given:
        parts += _given(result)
    if found is not None:
        parts += _rater_map(printable_map(found), result.spec.analysis.level)
    if result.groups:
        parts += _numbers(result)
    return "\n\n".join(parts) + "\n"


def _answer(result: RunResult) -> list[str]:
    """The headline, what may undo it, the sentences that back it, with what to do, and other warnings."""
    found = answer(result)
    mind = [_listed("Mind first:", found.warned.first)] if found.warned.first else []
    said = "\n".join(f"- {_sentence(one)}" for one in found.details)
    return [_sentence(found.headline), *mind, *([said] if said else []), *_others(found.warned)]


def _others(found: Warned) -> list[str]:
    if not found.others:
        return []
    return [_listed("\n\n".join(["**Warnings**", *([found.lead] if found.lead else [])]), found.others)]


def _listed(head: str, remarks: Sequence[object]) -> str:
    return "\n".join([head, "", *(f"- {escape_inline(str(one))}" for one in remarks)])


def _pairs(result: RunResult) -> list[str]:
    """What holds of pairs, then a table of what was measured."""
    said = "\n".join(f"- {_sentence(one)}" for one in most_told(result, len(result.pairs)))
    return [escape_inline(PAIRS_EXPLANATION), said, frame_markdown(pairs_in_words(result), 3)]


def _slices(result: RunResult, found: SlicesResult) -> list[str]:
    sentences = "\n".join(f"- {_sentence(one)}" for one in slice_sentences(result, found))
    table = frame_markdown(sliced(result, found, wide_table), 4)
    return [f"## Slices by {escape_inline(found.column)}", sentences, table]


def _numbers(result: RunResult) -> list[str]:
    """Every number with its interval, p and q."""
    parts = ["## In numbers", escape_inline(brackets(result.spec.analysis))]
    for one in in_numbers(result):
        parts += [
            f"### {escape_inline(one.title)}",
            escape_inline(one.explanation),
            frame_markdown(one.table, one.names),
        ]
    return [part for part in parts if part]


def _given(result: RunResult) -> list[str]:
    said = "\n".join(f"- {_sentence(one)}" for one in given_sentences(result))
    tables = [given_table(result, found) for found in result.given]
    drawn = [frame_markdown(one, 1) for one in tables]
    return ["## Given another axis", escape_inline(GIVEN_EXPLANATION), said, *drawn]


def _rater_map(found: RaterMap, level: Level) -> list[str]:
    """Which axes disagreement follows; where there is a map, the numbers behind it."""
    said = "\n".join(f"- {_sentence(one)}" for one in sentences(found, level))
    told = ["## Map of raters", said]
    if found.reason is not None:
        return told
    axes, groups = axes_table(found), groups_table(found, level)
    return [
        *told,
        escape_inline(EXPLANATION),
        frame_markdown(axes, 1),
        escape_inline(distance_words(level)),
        frame_markdown(groups, 2),
    ]


def _sentence(sentence: Sentence) -> str:
    parts = []
    for segment in sentence.segments:
        lead = " " if segment.text[:1].isspace() else ""
        trail = " " if len(segment.text) > 1 and segment.text[-1:].isspace() else ""
        escaped = escape_inline(segment.text)
        parts.append(
            f"{lead}**{escaped}**{trail}" if segment.strong and escaped else f"{lead}{escaped}{trail}"
        )
    return "".join(parts)


def frame_markdown(table: pd.DataFrame, texts: int) -> str:
    """A table, of which the first columns hold texts."""
    rule = [":--"] * texts + ["--:"] * (len(table.columns) - texts)
    rows = [list(table.columns), *table.to_numpy().tolist()]
    lines = [[escape_inline(str(cell)) for cell in row] for row in rows]
    drawn = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([drawn[0], f"| {' | '.join(rule)} |", *drawn[1:]])
