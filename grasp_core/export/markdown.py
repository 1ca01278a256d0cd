"""A result's tables as Markdown, for GitHub and other places that know its tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grasp_core.rater_map.reported import printable_map
from grasp_core.rater_map.tables import axes_table, distance_words, groups_table
from grasp_core.rater_map.values import RaterMap
from grasp_core.rater_map.words import EXPLANATION, sentences
from grasp_core.remarks.ranks import ranked
from grasp_core.report.contents import marks, not_estimable, run_title
from grasp_core.report.doubts import cautions
from grasp_core.report.given import GIVEN_EXPLANATION, given_sentences, given_table
from grasp_core.report.label_tables import label_use_by_group, with_label_use
from grasp_core.report.labelled import labelled_sentence
from grasp_core.report.pairs.sentences import most_told
from grasp_core.report.pairs.tables import pairs_in_words
from grasp_core.report.pairs.words import PAIRS_EXPLANATION
from grasp_core.report.printable import printable, printable_result
from grasp_core.report.sentences import answer
from grasp_core.report.slices import slice_sentences, wide_slices
from grasp_core.report.tables import dsi_table, wide_table
from grasp_core.report.text import WORD_JOINER, Sentence
from grasp_core.report.words import DSI_NAME, LABEL_USE_EXPLANATION, format_p_value, format_value
from grasp_core.result import RunResult, SlicesResult
from grasp_core.spec import Level

_MARKUP = re.compile(r"[\\`*_\[\]<>|~$&!#]")
_LINKED_AFTER_PARSING = re.compile(r"[:@](?=\S)|www(?=\.)", re.IGNORECASE)


def escape_inline(text: str) -> str:
    r"""Text that shows as itself inside a line of Markdown or a cell of its tables.

    Notes
    -----
    A backslash stops what GitHub's parser knows: emphasis, links, HTML, maths, cell borders. Emoji
    codes, mentions and bare addresses are replaced after parsing; an invisible word joiner breaks those.
    """
    escaped = _MARKUP.sub(lambda found: "\\" + found.group(), " ".join(printable(text).split()))
    return _LINKED_AFTER_PARSING.sub(lambda found: found.group() + WORD_JOINER, escaped)


def table_markdown(result: RunResult, found: RaterMap | None = None) -> str:
    """The answer in words, Table 5 with its marks explained, and what else was computed, the map too."""
    result = printable_result(result)
    wide = wide_table(result)
    parts = [
        f"# {escape_inline(run_title(result.spec))}",
        f"{escape_inline(labelled_sentence(result.spec.data, result.data))}.",
        *_answer(result),
        _table(list(wide.columns), wide.to_numpy().tolist(), texts=2),
        "; ".join(f"{escape_inline(sign)}: {meaning}" for sign, meaning in marks(result.spec.analysis)) + ".",
        *(f"- {escape_inline(sentence)}" for sentence in not_estimable(result)),
    ]
    if result.dsi:
        parts.append(_dsi(result))
    if with_label_use(result):
        parts += [f"{escape_inline(LABEL_USE_EXPLANATION)}", _label_use(result)]
    if result.pairs:
        parts += _pairs(result)
    for column in result.slices:
        parts += _slices(result, column)
    if result.given:
        parts += _given(result)
    if found is not None:
        parts += _rater_map(printable_map(found), result.spec.analysis.level)
    if left := [one for one in ranked(result.warnings) if one not in cautions(result)]:
        parts.append(_listed("## Warnings", left))
    return "\n\n".join(parts) + "\n"


def _answer(result: RunResult) -> list[str]:
    """The headline, what may undo it, and the sentences that back it, with what to do."""
    found = answer(result)
    mind = [_listed("Mind first:", found.cautions)] if found.cautions else []
    said = "\n".join(f"- {_sentence(one)}" for one in found.details)
    return [_sentence(found.headline), *mind, *([said] if said else [])]


def _listed(head: str, remarks: Sequence[object]) -> str:
    return "\n".join([head, "", *(f"- {escape_inline(str(one))}" for one in remarks)])


def _dsi(result: RunResult) -> str:
    permutations = result.permutations
    rows = []
    for row in dsi_table(result).replace({float("nan"): None}).to_dict("records"):
        p, q = (format_p_value(row[name], permutations=permutations) for name in ("p", "q"))
        rows.append([row["axis"], row["group"], f"{format_value(row['dsi'])} {row['stars']}".rstrip(), p, q])
    return _table(["Axis", "Attained by", DSI_NAME, "p", "q"], rows, texts=2)


def _label_use(result: RunResult) -> str:
    table = label_use_by_group(result)
    return _table(list(table.columns), table.to_numpy().tolist(), texts=2)


def _pairs(result: RunResult) -> list[str]:
    """What holds of pairs, then a table of what was measured."""
    said = "\n".join(f"- {_sentence(one)}" for one in most_told(result, len(result.pairs)))
    table = pairs_in_words(result)
    rows = table.to_numpy().tolist()
    return [escape_inline(PAIRS_EXPLANATION), said, _table(list(table.columns), rows, texts=3)]


def _slices(result: RunResult, found: SlicesResult) -> list[str]:
    table = wide_slices(result, found)
    sentences = "\n".join(f"- {_sentence(one)}" for one in slice_sentences(result, found))
    rows = _table(list(table.columns), table.to_numpy().tolist(), texts=4)
    return [f"## Slices by {escape_inline(found.column)}", sentences, rows]


def _given(result: RunResult) -> list[str]:
    said = "\n".join(f"- {_sentence(one)}" for one in given_sentences(result))
    tables = [given_table(result, found) for found in result.given]
    drawn = [_table(list(one.columns), one.to_numpy().tolist(), texts=1) for one in tables]
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
        _table(list(axes.columns), axes.to_numpy().tolist(), texts=1),
        escape_inline(distance_words(level)),
        _table(list(groups.columns), groups.to_numpy().tolist(), texts=2),
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


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]], *, texts: int) -> str:
    rule = [":--"] * texts + ["--:"] * (len(heads) - texts)
    lines = [
        [escape_inline(head) for head in heads],
        *([escape_inline(str(cell)) for cell in row] for row in rows),
    ]
    drawn = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([drawn[0], f"| {' | '.join(rule)} |", *drawn[1:]])
