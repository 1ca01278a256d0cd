"""Sections of the HTML report, and the parts they are made of."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import altair as alt
import pandas as pd

from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.errors import MissingPackageError
from grasp_core.model.groups import axis_label, group_label, one_line
from grasp_core.model.outcome import LabelUse, Shift
from grasp_core.model.result import FileFingerprint, GivenResult, GroupResult, RunResult, SlicesResult
from grasp_core.model.spec import Level
from grasp_core.model.text import Sentence
from grasp_core.report.account import account_sentence
from grasp_core.report.charts import label_forest_plot, pairs_matrix, slices_chart, to_svg
from grasp_core.report.charts.rater_map import rater_map_chart
from grasp_core.report.charts.theme import FONT, PALETTES, Theme
from grasp_core.report.contents import raters_per_item
from grasp_core.report.given import GIVEN_EXPLANATION, given_sentences, given_table
from grasp_core.report.in_numbers import pairs_in_numbers, pairs_in_words, slices_in_numbers
from grasp_core.report.pairs import PAIRS_EXPLANATION, Measure, measures, most_told
from grasp_core.report.rater_map import (
    EXPLANATION,
    axes_table,
    distance_words,
    drawn_axes,
    groups_table,
    sentences,
)
from grasp_core.report.slices import marked_groups, slice_sentences, sliced
from grasp_core.report.tables import drawn_labels, wide_table, with_label_use
from grasp_core.report.words.label_use import (
    format_points,
    format_points_interval,
    label_use_sentence,
    mean_words,
)
from grasp_core.report.words.names import (
    LABEL_USE_EXPLANATION,
    LABEL_USE_FORMULA,
    format_p_value,
    lead_statistic,
    p_text,
    signs,
)
from grasp_core.report.writers._figure import inline_svg


def _colours(theme: Theme) -> str:
    palette = PALETTES[theme]
    card = {"light": "#F4F7F6", "dark": "#1B2426"}[theme]
    return (
        f"--background: {palette.background}; --ink: {palette.ink}; --muted: {palette.muted}; "
        f"--grid: {palette.grid}; --card: {card}; --corrected: {palette.text['corrected']}; "
        f"--nominal: {palette.text['nominal']}; color-scheme: {theme};"
    )


STYLE = f"""
:root {{ {_colours("light")} }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {_colours("dark")} }} }}
""" + (
    """
* { box-sizing: border-box; }
body { margin: 0; background: var(--background); color: var(--ink); font: 16px/1.5 FONT; }
main { max-width: 72rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 1.8rem; line-height: 1.25; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.35rem; margin: 2.5rem 0 .75rem; }
h3 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p, li, dd, td, th { overflow-wrap: break-word; }
p, li, dd { max-width: 50rem; }
.muted, caption { color: var(--muted); }
.headline { font-size: 1.2rem; padding: .75rem 1rem; background: var(--card);
  border-left: 4px solid var(--corrected); }
a { color: var(--corrected); }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; list-style: none; }
.scroll { position: relative; overflow-x: auto; margin: .75rem 0; }
.figure { background: #fff; border: 1px solid var(--grid); border-radius: 4px; }
.figure svg { display: block; width: 100%; min-width: 42rem; height: auto; font-family: FONT; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
caption { text-align: left; padding-bottom: .4rem; }
th, td { padding: .3rem .6rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--grid); }
thead th { border-bottom: 2px solid var(--muted); vertical-align: bottom; }
tbody th { position: sticky; left: 0; min-width: 7rem; max-width: 20rem; background: var(--background);
  font-weight: normal; }
.number { text-align: right; }
td.number { white-space: nowrap; }
.corrected { color: var(--corrected); font-weight: 600; }
.nominal { color: var(--nominal); font-weight: 600; }
.hash { overflow-wrap: anywhere; min-width: 16rem; font-family: monospace; }
dt { font-weight: 600; margin-top: .75rem; }
dd { margin: 0; }
summary { cursor: pointer; color: var(--corrected); }
pre { background: var(--card); padding: 1rem; margin: .75rem 0; overflow-x: auto; font-size: .85rem; }
:focus-visible { outline: 2px solid var(--corrected); outline-offset: 2px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
@page { size: A4 landscape; margin: 14mm; }
@media print {
  details::details-content { content-visibility: visible; display: block; }
  body { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  nav, summary { display: none; }
  h2, h3 { break-after: avoid; }
  .scroll, pre { overflow: visible; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  .figure { border: 0; break-inside: avoid; }
  .figure svg { min-width: 0; max-height: 135mm; }
  table { font-size: 8pt; }
  tbody th { position: static; }
  th, td { padding: .15rem .35rem; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
}
"""
).replace("FONT", FONT)


@dataclass(frozen=True, slots=True)
class Cell:
    """A table cell's markup and CSS class."""

    markup: str
    css: str = ""


def text(words: str, css: str = "") -> Cell:
    """A cell of text."""
    return Cell(escape(words), css)


def number(digits: str) -> Cell:
    """A cell of digits, flush right."""
    return Cell(escape(digits), "number")


def table(caption: str, heads: Sequence[Cell], rows: Iterable[Sequence[Cell]]) -> str:
    """A table that scrolls sideways where it is too wide; the first column names its rows."""
    head = "".join(_cell("th", cell, "col") for cell in heads)
    body = "\n".join(
        "<tr>"
        + "".join(
            _cell("th", cell, "row") if position == 0 else _cell("td", cell)
            for position, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return _scrolling(
        caption,
        f"<table>\n<caption>{escape(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n</table>",
    )


def frame(caption: str, texts: pd.DataFrame, names: int) -> str:
    """The same of a table of texts, whose first columns hold names, and the others numbers."""
    kinds = [text] * names + [number] * (len(texts.columns) - names)
    lines = [list(texts.columns), *texts.to_numpy().tolist()]
    heads, *rows = [[kind(str(cell)) for kind, cell in zip(kinds, line, strict=True)] for line in lines]
    return table(caption, heads, rows)


def figure(chart: alt.LayerChart, name: str) -> str:
    """A chart, or its description where none can be drawn; `name` is unique in the document."""
    try:
        drawn = to_svg(chart)
    except MissingPackageError as error:
        return f"<p>{escape(str(chart.description))} (Not drawn: {escape(str(error))}.)</p>"
    svg = inline_svg(drawn, name=name, alt=str(chart.description))
    return _scrolling("Figure", svg, css="scroll figure")


def listing(markups: Iterable[str]) -> str:
    """A bulleted list; nothing where there is no entry."""
    entries = "\n".join(f"<li>{markup}</li>" for markup in markups)
    return f"<ul>\n{entries}\n</ul>" if entries else ""


def definitions(entries: Mapping[str, str]) -> str:
    """Names with their markup."""
    pairs = (f"<dt>{escape(name)}</dt><dd>{markup}</dd>" for name, markup in entries.items())
    return "<dl>\n{}\n</dl>".format("\n".join(pairs))


def code(label: str, lines: str) -> str:
    """Text to copy, with its line breaks."""
    return f'<pre tabindex="0" role="group" aria-label="{escape(label)}">{escape(lines)}</pre>'


def sentence(words: Sentence) -> str:
    """A sentence; names keep their own reading direction."""
    return "".join(
        f"<strong><bdi>{escape(part.text)}</bdi></strong>" if part.strong else escape(part.text)
        for part in words.segments
    )


def _cell(tag: str, cell: Cell, scope: str = "") -> str:
    attributes = (f' scope="{scope}"' if scope else "") + (f' class="{cell.css}"' if cell.css else "")
    return f"<{tag}{attributes}>{cell.markup}</{tag}>"


def _scrolling(label: str, markup: str, css: str = "scroll") -> str:
    return f'<div class="{css}" role="group" tabindex="0" aria-label="{escape(label)}">\n{markup}\n</div>'


def data(result: RunResult) -> str:
    """Counts, labels, files and what was left out."""
    read, timing = result.data, result.timing
    facts = {
        "Items": f"{read.items:,}",
        "Raters": f"{read.raters:,}",
        "Annotations": f"{read.annotations:,}",
        "Raters per item": raters_per_item(result),
        "Computed in": f"{timing.load_s + timing.observed_s + timing.permutations_s:.1f} s",
    }
    labels = zip(read.categories, read.label_counts, strict=False)
    files = [(text(_name(file)), number(f"{file.bytes:,}"), text(file.sha256, "hash")) for file in read.files]
    return "\n".join(
        [
            table(
                "Counts",
                [text("What"), number("Value")],
                [(text(what), number(value)) for what, value in facts.items()],
            ),
            table(
                "Annotations per label",
                [text("Label"), number("Annotations")],
                [(text(label), number(f"{count:,}")) for label, count in labels],
            ),
            "" if read.account is None else f"<p>{escape(account_sentence(read.account))}</p>",
            table("Input files", [text("File"), number("Bytes"), text("SHA-256")], files) if files else "",
            f'<p>Fingerprint of all data (SHA-256): <span class="hash">{escape(read.sha256)}</span></p>',
        ]
    )


def _name(file: FileFingerprint) -> str:
    return f"{file.name}, fetched from {file.source}" if file.source else file.name


def again(result: RunResult, spec_file: str) -> str:
    """The command and the spec that give the same numbers."""
    names = [shlex.quote(file.source or file.name) for file in result.data.files]
    beside = ["--raters"] * (len(names) - 1 - (result.spec.data.items_id is not None))
    options = ["--annotations", *beside, "--items"]
    files = [f"{option} {name}" for option, name in zip(options, names, strict=False)]
    command = " ".join(["grasp run --spec spec.json", *files])
    return (
        f"<p>Save the text below as spec.json. With the same files and GRASP {escape(result.code_version)} "
        f"this gives the same numbers:</p>\n{code('Command', command)}\n{code('Spec as JSON', spec_file)}"
    )


def given(result: RunResult) -> str:
    """The section's content."""
    tables = [_axis(result, found) for found in result.given]
    said = listing(sentence(one) for one in given_sentences(result))
    return "\n".join([f"<p>{escape(GIVEN_EXPLANATION)}</p>", said, *tables])


def _axis(result: RunResult, found: GivenResult) -> str:
    cells = given_table(result, found)
    return frame(f"Tests of every group, at first and given {axis_label((found.column,))}", cells, 1)


_HEADS = ("Points", "95 % interval", "p", "p of all labels", "q of all labels")


def label_use(result: RunResult) -> str:
    """The section's content."""
    found = with_label_use(result)
    marked = [(row, use) for row, use in found if use.significance != "none"]
    figures = (
        figure(label_forest_plot(result, label), f"forest-label-{position}")
        for position, label in enumerate(drawn_labels(result))
    )
    cells = [one for row, use in found for one in _rows(row, use, result)]
    heads = [text("Group"), text("Label"), *map(number, _HEADS)]
    return "\n".join(
        [
            f"<p>{escape(LABEL_USE_EXPLANATION)}</p>",
            listing(sentence(label_use_sentence(row, use, result)) for row, use in marked),
            *figures,
            "<details><summary>Label use in numbers</summary>",
            table("Label use of every group", heads, cells),
            "</details>",
            f"<p>{escape(LABEL_USE_FORMULA)}</p>",
            listing(filter(None, (escape(_mean(row, use, result)) for row, use in found))),
        ]
    )


def _rows(row: GroupResult, use: LabelUse, result: RunResult) -> list[list[Cell]]:
    return [_row(row, use, label, shift, result) for label, shift in use.labels.items()]


def _row(row: GroupResult, use: LabelUse, label: str, shift: Shift, result: RunResult) -> list[Cell]:
    p, q = (format_p_value(value, permutations=result.permutations) for value in (shift.p, use.q))
    return [
        text(group_label(row.group)),
        text(one_line(label)),
        number(format_points(shift.value)),
        number(format_points_interval(shift) or str(use.no_interval or "")),
        number(p),
        number(p_text(use, permutations=result.permutations)),
        number(f"{q} {signs(use)}".rstrip()),
    ]


def _mean(row: GroupResult, use: LabelUse, result: RunResult) -> str:
    words = mean_words(use, result)
    return f"{group_label(row.group)}: {words}" if words else ""


def pairs(result: RunResult) -> str:
    """The section's content."""
    axes = dict.fromkeys(row.a.axes for row in result.pairs)
    drawn = [measure for measure in measures(result).values() if _worth_a_figure(measure, result)]
    figures = (
        figure(pairs_matrix(result, of, measure), f"pairs-{position}-{place}")
        for position, of in enumerate(axes)
        for place, measure in enumerate(drawn)
    )
    return "\n".join(
        [
            f"<p>{escape(PAIRS_EXPLANATION)}</p>",
            listing(map(sentence, most_told(result, len(result.pairs)))),
            *figures,
            "<details><summary>Pairs in numbers</summary>",
            frame("Every pair of groups", pairs_in_words(result), 3),
            frame("Everything of every pair, with intervals", pairs_in_numbers(result), 4),
            "</details>",
        ]
    )


def _worth_a_figure(measure: Measure, result: RunResult) -> bool:
    """Label use and distance, of which findings are made, where a pair is marked after correction."""
    marked = any(measure.of(row).significance == "corrected" for row in result.pairs)
    return measure.key in ("label_use", "distance") and marked


def rater_map(found: RaterMap, level: Level) -> str:
    """The section's content."""
    told = listing(sentence(one) for one in sentences(found, level))
    if found.reason is not None:
        return told
    figures = (
        figure(rater_map_chart(found, axes), f"map-{position}")
        for position, axes in enumerate(drawn_axes(found))
    )
    return "\n".join(
        [
            told,
            f"<p>{escape(EXPLANATION)}</p>",
            *figures,
            _table("What each axis explains", axes_table(found), ("Axis", "Result")),
            "<details><summary>How far raters differ</summary>",
            _table(distance_words(level), groups_table(found, level), ("Axis", "Group")),
            "</details>",
        ]
    )


def _table(caption: str, shown: pd.DataFrame, texts: tuple[str, str]) -> str:
    kinds = [text if head in texts else number for head in shown.columns]
    heads = [kind(str(head)) for kind, head in zip(kinds, shown.columns, strict=True)]
    rows = (
        [kind(str(cell)) for kind, cell in zip(kinds, row, strict=True)] for row in shown.to_numpy().tolist()
    )
    return table(caption, heads, rows)


_DRAWN = 4
"""Groups of a column that have a figure."""
_TEXTS = 4
"""Columns of the table that hold texts: value, items, axis and group."""


def slices(result: RunResult) -> str:
    """The section's content."""
    return "\n".join(_column(result, found, position) for position, found in enumerate(result.slices))


def _column(result: RunResult, found: SlicesResult, position: int) -> str:
    lead = lead_statistic(result)
    name = one_line(found.column)
    figures = [
        f"<h4>{escape(group_label(group))}</h4>\n"
        + figure(slices_chart(result, found.column, group, (lead, False)), f"slices-{position}-{place}")
        for place, group in enumerate(marked_groups(found)[:_DRAWN])
    ]
    wide = sliced(result, found, wide_table)
    numbers = slices_in_numbers(result, found, "slices")
    return "\n".join(
        [
            f"<h3>By {escape(name)}</h3>",
            listing(sentence(one) for one in slice_sentences(result, found)),
            *figures,
            "<details><summary>Slices in numbers</summary>",
            frame(f"Every group on the items of each value of {name}", wide, _TEXTS),
            *(frame(one.title, one.table, one.names) for one in numbers if not one.table.empty),
            "</details>",
        ]
    )
