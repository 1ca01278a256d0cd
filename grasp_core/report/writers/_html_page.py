"""A result as one HTML file that opens offline and needs nothing else."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from string import Template

from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.groups import axis_label, group_label, group_labels, one_line
from grasp_core.model.outcome import LabelUse, Outcome
from grasp_core.model.result import Everybody, RunResult
from grasp_core.model.spec import Level
from grasp_core.model.text import printable
from grasp_core.report import charts, contents, in_numbers, rater_map
from grasp_core.report.account import account_sentence
from grasp_core.report.charts.maps import rater_map_chart
from grasp_core.report.charts.theme import FONT, PALETTES, Theme
from grasp_core.report.everybody import agreement_tables, in_one_line
from grasp_core.report.findings.findings import judged, leading
from grasp_core.report.findings.sentences import Answer, answer
from grasp_core.report.pairs import PAIRS_EXPLANATION, measures, most_told
from grasp_core.report.saved import spec_json
from grasp_core.report.slices import (
    GIVEN_EXPLANATION,
    given_sentences,
    given_table,
    marked_groups,
    slice_sentences,
    sliced,
)
from grasp_core.report.tables import drawn_labels, ordered_dsi, wide_table, with_label_use
from grasp_core.report.words import label_use, names
from grasp_core.report.words.printable import printable_result
from grasp_core.report.writers._html_parts import (
    Cell,
    code,
    definitions,
    figure,
    folded,
    frame,
    listing,
    number,
    paragraph,
    sentence,
    table,
    text,
)

_PAGE = Template(Path(__file__).with_name("report.html").read_text(encoding="utf-8"))
_DIRECTIONS = {"up": "above random groupings", "down": "below random groupings", None: ""}
_DRAWN = 4
"""Groups of a column of slices that have a figure."""
_Section = tuple[str, str, str]
"""Key, heading and content."""


def report_html(result: RunResult, found: RaterMap | None = None) -> str:
    """Answer, figures, tables, methods, data and spec; without scripts and without any other file."""
    spec_file = spec_json(result)
    result = printable_result(result)
    shuffled = f"{result.permutations:,} random groupings · " if result.permutations else ""
    sections = [*_sections(result), *_ending(result, found, spec_file)]
    return _PAGE.substitute(
        title=escape(contents.run_title(result.spec)),
        light=_colours("light"),
        dark=_colours("dark"),
        font=FONT,
        data=escape(printable(label_use.labelled_sentence(result.spec.data, result.data))),
        made=escape(f"{shuffled}GRASP {result.code_version}"),
        links=listing(f'<a href="#{key}">{escape(name)}</a>' for key, name, _ in sections),
        sections="\n".join(
            f'<section id="{key}">\n<h2>{escape(name)}</h2>\n{content}\n</section>'
            for key, name, content in sections
        ),
    )


def _colours(theme: Theme) -> str:
    palette = PALETTES[theme]
    card = {"light": "#F4F7F6", "dark": "#1B2426"}[theme]
    return (
        f"--background: {palette.background}; --ink: {palette.ink}; --muted: {palette.muted}; "
        f"--grid: {palette.grid}; --card: {card}; --corrected: {palette.text['corrected']}; "
        f"--nominal: {palette.text['nominal']}; color-scheme: {theme};"
    )


def _sections(result: RunResult) -> Iterator[_Section]:
    told = answer(result)
    if result.of_everybody and result.everybody is not None:
        yield from _of_everybody(result, result.everybody, told)
        return
    yield "answer", "Answer", _answer(result, told)
    lead = f"{paragraph(told.warned.lead)}\n" if told.warned.lead else ""
    yield "warnings", "Warnings", lead + listing(escape(str(one)) for one in told.warned.others)
    yield "axes", "Which axis should recruitment watch?", _axes(result)
    cohesion = figure(charts.cohesion_map(result), "cohesion")
    yield "cohesion", "Agreement inside and across groups", cohesion
    yield "groups", "Groups", _groups(result)
    if with_label_use(result):
        yield "labels", "Label use", _label_use(result)
    if result.pairs:
        yield "pairs", "Groups two by two", _pairs(result)
    yield "chance", "Against random groupings", _chance(result)
    if result.slices:
        yield "slices", "Slices", _slices(result)
    if result.given:
        what = "Tests of every group, at first and given"
        tables = [
            frame(f"{what} {axis_label((one.column,))}", given_table(result, one), 1) for one in result.given
        ]
        said = listing(map(sentence, given_sentences(result)))
        yield "given", "Given another axis", _lines(paragraph(GIVEN_EXPLANATION), said, *tables)


def _of_everybody(result: RunResult, found: Everybody, told: Answer) -> Iterator[_Section]:
    drawn = figure(charts.agreement_chart(result), "agreement") if found.labels else ""
    yield "answer", "Answer", _answer(result, told) + drawn
    tables = [frame(heading, one, 1) for heading, one in agreement_tables(found)]
    yield "agreement", "Agreement of all raters", _lines(*tables)


def _ending(result: RunResult, found: RaterMap | None, spec_file: str) -> Iterator[_Section]:
    if found is not None:
        yield "raters", "Map of raters", _rater_map(printable_result(found), result.spec.analysis.level)
    if not result.of_everybody or result.everybody is None:
        statistics = {
            one.name: _lines(paragraph(one.explanation), paragraph(one.formula))
            for one in contents.methods(result)
        }
        stated = contents.conventions(result.spec, result.stopping)
        conventions = definitions({name: escape(words) for name, words in stated})
        formulas = folded("Statistics and their formulas", definitions(statistics))
        yield "methods", "Methods", _lines(formulas, folded("Conventions of this run", conventions))
    yield "data", "Data", _data(result)
    if result.data.files:
        yield "again", "Run it again", _again(result, spec_file)


def _lines(*parts: str) -> str:
    return "\n".join(parts)


def _answer(result: RunResult, found: Answer) -> str:
    first = listing(escape(str(one)) for one in found.warned.first)
    mind = f"<p>Mind first:</p>{first}" if first else ""
    headline = f'<p class="headline">{sentence(found.headline)}</p>'
    drawn = figure(charts.verdict_chart(result), "verdicts") if judged(result) else ""
    return _lines(headline, mind, drawn, listing(map(sentence, found.details)))


def _axes(result: RunResult) -> str:
    drawn = figure(charts.dsi_chart(result), "dsi")
    if not result.dsi:
        return drawn
    heads = [text("Axis"), number("DSI"), text("Attained by")]
    heads += map(number, ("95 % interval", "p", "q", "p of that group"))
    rows = [
        [
            text(axis_label(row.axes)),
            _value(replace(row.outcome, direction=None)),  # a maximum is compared upwards only
            text("" if row.group is None else group_label(row.group)),
            number(names.format_interval(row.outcome)),
            *_p_and_q(row.outcome, result),
            _p(row.p_group, result),
        ]
        for row in ordered_dsi(result)
    ]
    caption = "DSI by axis. p and q: against the largest that the groups of random groupings reach."
    return drawn + table(caption, heads, rows)


def _groups(result: RunResult) -> str:
    statistics, analysis = names.reported_statistics(result), result.spec.analysis
    heads = [text("Group"), text("Axis"), number("Raters"), number("Annotations")]
    heads += [number(names.WORDS[name].name) for name in statistics]
    rows = [
        [
            *(text(group_label(row.group)), text(axis_label(row.group.axes))),
            *(number(f"{row.n_raters:,}"), number(f"{row.n_annotations:,}")),
            *(_value(names.outcome_of(row, name)) for name in statistics),
        ]
        for row in result.groups
    ]
    marked = "; ".join(f"{sign}: {meaning}" for sign, meaning in contents.marks(analysis))
    everybody = f"{paragraph(in_one_line(result))}\n" if result.everybody is not None else ""
    caption, missing = "Every statistic of every group", listing(map(escape, contents.not_estimable(result)))
    drawn = folded(caption, _lines(table(caption, heads, rows), missing))
    return everybody + _lines(paragraph(f"{marked}. {contents.brackets(analysis)}"), drawn)


def _value(outcome: Outcome) -> Cell:
    """The value with its signs, which are read out as words."""
    shown = escape(names.format_value(outcome.value))
    beside = f"{names.arrow(outcome)}{names.signs(outcome)}"
    if not beside:
        return Cell(shown, "number")
    mark = "" if outcome.significance == "none" else names.SIGNIFICANCE_NAMES[outcome.significance]
    fitted = "" if outcome.fit is None else "p fitted"
    words = ", ".join(filter(None, (_DIRECTIONS[outcome.direction], mark, fitted)))
    signs = f'<span aria-hidden="true">{beside}</span><span class="unseen">{words}</span>'
    return Cell(f"{shown} {signs}", f"number {outcome.significance}")


def _p(p: float | None, result: RunResult) -> Cell:
    return number(names.format_p_value(p, permutations=result.permutations))


def _p_and_q(test: Outcome | LabelUse, result: RunResult) -> Sequence[Cell]:
    return number(names.p_text(test, permutations=result.permutations)), _p(test.q, result)


def _label_use(result: RunResult) -> str:
    found = with_label_use(result)
    rows = []
    for row, use in found:
        p, q = _p_and_q(use, result)
        marked_q = Cell(f"{q.markup} {names.signs(use)}".rstrip(), q.css)
        for label, shift in use.labels.items():
            interval = label_use.format_points_interval(shift) or str(use.no_interval or "")
            points = number(label_use.format_points(shift.value))
            tested = (_p(shift.p, result), p, marked_q)
            rows.append(
                [text(group_label(row.group)), text(one_line(label)), points, number(interval), *tested]
            )
    columns = ("Points", "95 % interval", "p", "p of all labels", "q of all labels")
    heads = [text("Group"), text("Label"), *map(number, columns)]
    marked = [
        label_use.label_use_sentence(row, use, result) for row, use in found if use.significance != "none"
    ]
    means = ((row, label_use.mean_words(use, result)) for row, use in found)
    return _lines(
        paragraph(names.LABEL_USE_EXPLANATION),
        listing(map(sentence, marked)),
        *(
            figure(charts.label_forest_plot(result, label), f"forest-label-{place}")
            for place, label in enumerate(drawn_labels(result))
        ),
        folded("Label use in numbers", f"{table('Label use of every group', heads, rows)}\n"),
        paragraph(names.LABEL_USE_FORMULA),
        listing(escape(f"{group_label(row.group)}: {words}") for row, words in means if words),
    )


def _pairs(result: RunResult) -> str:
    """Figures show label use and distance, of which findings are made, where a pair is clearly marked."""
    drawn = [
        one
        for one in measures(result).values()
        if one.key in ("label_use", "distance")
        and any(one.of(row).significance == "corrected" for row in result.pairs)
    ]
    figures = (
        figure(charts.pairs_matrix(result, axes, measure), f"pairs-{position}-{place}")
        for position, axes in enumerate(dict.fromkeys(row.a.axes for row in result.pairs))
        for place, measure in enumerate(drawn)
    )
    words = frame("Every pair of groups", in_numbers.pairs_in_words(result), 3)
    every = frame("Everything of every pair, with intervals", in_numbers.pairs_in_numbers(result), 4)
    said = listing(map(sentence, most_told(result, len(result.pairs))))
    tables = folded("Pairs in numbers", f"{words}\n{every}\n")
    return _lines(paragraph(PAIRS_EXPLANATION), said, *figures, tables)


def _chance(result: RunResult) -> str:
    """Null histograms of the statistics that make findings; of the others the numbers."""
    parts, others = list[str](), list[str]()
    for method, name in zip(contents.methods(result), names.reported_statistics(result), strict=False):
        heading, numbers = f"<h3>{escape(method.name)}</h3>\n", _of_statistic(result, method.name, name)
        if name not in leading(result):
            others.append(f"{heading}{numbers}")
            continue
        drawn = figure(charts.null_histograms(result, name), name.replace("_", "-"))
        beside = folded(f"{method.name} in numbers", numbers)
        parts.append(heading + _lines(paragraph(method.explanation), drawn, beside))
    if others:
        where = "Their histograms are on the page of the result, and in its JSON file."
        parts.append(folded("The other statistics in numbers", _lines(paragraph(where), *others)))
    return _lines(*parts)


def _of_statistic(result: RunResult, called: str, statistic: str) -> str:
    rows = []
    for name, row in zip(group_labels([row.group for row in result.groups]), result.groups, strict=True):
        outcome = names.outcome_of(row, statistic)
        interval = escape(names.format_interval(outcome) or str(outcome.no_interval or ""))
        middle = number(names.format_value(outcome.null_median))
        rows.append([text(name), _value(outcome), number(interval), middle, *_p_and_q(outcome, result)])
    columns = (called, "95 % interval", "Median of random groupings", "p", "q")
    caption = f"{called} of every group against random groupings"
    return table(caption, [text("Group"), *map(number, columns)], rows)


def _slices(result: RunResult) -> str:
    parts, what = list[str](), (names.lead_statistic(result), False)
    for position, found in enumerate(result.slices):
        name = one_line(found.column)
        caption = f"Every group on the items of each value of {name}"
        tables = [frame(caption, sliced(result, found, wide_table), 4)]
        numbers = in_numbers.slices_in_numbers(result, found, "slices")
        tables += [frame(one.caption, one.frame, one.names) for one in numbers if not one.frame.empty]
        parts += [f"<h3>By {escape(name)}</h3>", listing(map(sentence, slice_sentences(result, found)))]
        for place, group in enumerate(marked_groups(found)[:_DRAWN]):
            chart = charts.slices_chart(result, found.column, group, what)
            heading = f"<h4>{escape(group_label(group))}</h4>"
            parts.append(_lines(heading, figure(chart, f"slices-{position}-{place}")))
        parts.append(folded("Slices in numbers", f"{_lines(*tables)}\n"))
    return _lines(*parts)


def _rater_map(found: RaterMap, level: Level) -> str:
    told = listing(map(sentence, rater_map.sentences(found, level)))
    if found.reason is not None:
        return told
    axes = frame("What each axis explains", rater_map.axes_table(found), 1, last=text)
    distances = frame(rater_map.distance_words(level), rater_map.groups_table(found, level), 2)
    figures = (
        figure(rater_map_chart(found, drawn), f"map-{place}")
        for place, drawn in enumerate(rater_map.drawn_axes(found))
    )
    tables = (axes, folded("How far raters differ", f"{distances}\n"))
    return _lines(told, paragraph(rater_map.EXPLANATION), *figures, *tables)


def _data(result: RunResult) -> str:
    read, timing = result.data, result.timing
    facts = {
        "Items": f"{read.items:,}",
        "Raters": f"{read.raters:,}",
        "Annotations": f"{read.annotations:,}",
        "Raters per item": contents.raters_per_item(result),
        "Computed in": f"{timing.load_s + timing.observed_s + timing.permutations_s:.1f} s",
    }
    counts = [(text(what), number(value)) for what, value in facts.items()]
    labels = [
        (text(label), number(f"{count:,}"))
        for label, count in zip(read.categories, read.label_counts, strict=False)
    ]
    files = [
        (
            text(f"{file.name}, fetched from {file.source}" if file.source else file.name),
            number(f"{file.bytes:,}"),
            text(file.sha256, "hash"),
        )
        for file in read.files
    ]
    return _lines(
        table("Counts", [text("What"), number("Value")], counts),
        table("Annotations per label", [text("Label"), number("Annotations")], labels),
        "" if read.account is None else paragraph(account_sentence(read.account)),
        table("Input files", [text("File"), number("Bytes"), text("SHA-256")], files) if files else "",
        f'<p>Fingerprint of all data (SHA-256): <span class="hash">{escape(read.sha256)}</span></p>',
    )


def _again(result: RunResult, spec_file: str) -> str:
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
