"""A result as one HTML file that opens offline and needs nothing else: the document with its figures."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from html import escape
from pathlib import Path
from string import Template

from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.groups import group_label, group_labels
from grasp_core.model.result import RunResult
from grasp_core.model.text import printable
from grasp_core.report import contents, document, rater_map
from grasp_core.report.account import account_sentence
from grasp_core.report.charts.bars import agreement_chart, dsi_chart
from grasp_core.report.charts.groups import label_forest_plot, pairs_matrix, slices_chart
from grasp_core.report.charts.histograms import null_histograms
from grasp_core.report.charts.maps import cohesion_map, rater_map_chart
from grasp_core.report.charts.theme import FONT, PALETTES, Theme
from grasp_core.report.charts.verdicts import verdict_chart
from grasp_core.report.everybody import agreement_tables, in_one_line
from grasp_core.report.findings.findings import judged, leading
from grasp_core.report.findings.sentences import Answer, answer
from grasp_core.report.pairs import measures
from grasp_core.report.saved import spec_json
from grasp_core.report.slices import marked_groups
from grasp_core.report.tables import drawn_labels, ordered_dsi, wide_table, with_label_use
from grasp_core.report.words import label_use, names
from grasp_core.report.words.printable import printable_result
from grasp_core.report.writers._html_parts import (
    code,
    definitions,
    figure,
    folded,
    frame,
    listing,
    paragraph,
    rows,
    sentence,
)

_PAGE = Template(Path(__file__).with_name("report.html").read_text(encoding="utf-8"))
_DRAWN = 4
"""Groups of a column of slices that have a figure."""
_Section = tuple[str, str, str]
"""Key, heading and content."""
_HEADINGS = {"labels": "Label use", "pairs": "Groups two by two"}
"""Of parts of the document that have no heading of their own."""


def report_html(result: RunResult, found: RaterMap | None = None) -> str:
    """Answer, figures, tables, methods, data and spec; without scripts and without any other file."""
    spec_file = spec_json(result)
    result = printable_result(result)
    shuffled = f"{result.permutations:,} random groupings · " if result.permutations else ""
    sections = [*_sections(result, found, spec_file)]
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


def _sections(result: RunResult, found: RaterMap | None, spec_file: str) -> Iterator[_Section]:
    told, everybody = answer(result), result.everybody if result.of_everybody else None
    first = listing(escape(str(one)) for one in told.warned.first)
    mind = f"<p>Mind first:</p>{first}" if first else ""
    headline = f'<p class="headline">{sentence(told.headline)}</p>'
    drawn = figure(verdict_chart(result), "verdicts") if judged(result) and everybody is None else ""
    if everybody is not None and everybody.labels:
        drawn = figure(agreement_chart(result), "agreement")
    yield "answer", "Answer", _lines(headline, mind, drawn, listing(map(sentence, told.details)))
    if everybody is not None:
        tables = [frame(heading, one, 1) for heading, one in agreement_tables(everybody)]
        yield "agreement", "Agreement of all raters", _lines(*tables)
    else:
        yield from _of_groups(result, told)
    if found is not None:
        yield "raters", "Map of raters", _rater_map(result, printable_result(found))
    if everybody is None:
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


def _of_groups(result: RunResult, told: Answer) -> Iterator[_Section]:
    lead = f"{paragraph(told.warned.lead)}\n" if told.warned.lead else ""
    yield "warnings", "Warnings", lead + listing(escape(str(one)) for one in told.warned.others)
    drawn = figure(dsi_chart(result), "dsi")
    yield "axes", "Which axis should recruitment watch?", drawn + (_axes(result) if result.dsi else "")
    cohesion = figure(cohesion_map(result), "cohesion")
    yield "cohesion", "Agreement inside and across groups", cohesion
    marked = "; ".join(f"{sign}: {meaning}" for sign, meaning in contents.marks(result.spec.analysis))
    everybody = paragraph(in_one_line(result)) if result.everybody is not None else ""
    missing, every = listing(map(escape, contents.not_estimable(result))), "Every statistic of every group"
    marks = paragraph(f"{marked}. {contents.brackets(result.spec.analysis)}")
    table = wide_table(result)
    table[["Raters", "Annotations"]] = table[["Raters", "Annotations"]].map("{:,}".format)
    drawn = folded(every, _lines(frame(every, table, 2), missing))
    yield "groups", "Groups", _lines(everybody, marks, drawn)
    for one in document.further(result):
        if one.key != "dsi":
            yield one.key, one.heading or _HEADINGS[one.key], _found(result, one)
    yield "chance", "Against random groupings", _chance(result)


def _found(result: RunResult, one: document.Section) -> str:
    """A section of the document, its figures, and its tables, which open by a click."""
    heading = one.heading or _HEADINGS[one.key]
    tables = [
        frame(table.caption, table.frame, table.names)
        for table in (*one.tables, *one.numbers)
        if not table.frame.empty
    ]
    explained = paragraph(one.words) if one.words else ""
    said, drawn, after = [*one.said], list[str](), ""
    if one.key == "labels":
        found = with_label_use(result)
        said = [
            label_use.label_use_sentence(row, use, result) for row, use in found if use.significance != "none"
        ]
        for place, label in enumerate(drawn_labels(result)):
            drawn.append(figure(label_forest_plot(result, label), f"forest-label-{place}"))
        beside = [(row, label_use.mean_words(use, result)) for row, use in found]
        beside += [(row, f"no interval: {use.no_interval}.") for row, use in found if use.no_interval]
        words = listing(escape(f"{group_label(row.group)}: {words}") for row, words in beside if words)
        after = _lines(paragraph(names.LABEL_USE_FORMULA), words)
    elif one.key == "pairs":
        drawn = [*_pairs(result)]
    elif one.key.startswith("slices"):
        drawn = [*_slices(result, int(one.key.removeprefix("slices-")) - 1)]
    numbers = folded(f"{heading} in numbers", f"{_lines(*tables)}\n")
    return _lines(explained, listing(map(sentence, said)), *drawn, numbers, after)


def _pairs(result: RunResult) -> Iterator[str]:
    """Figures of label use and distance, of which findings are made, where a pair is clearly marked."""
    for position, axes in enumerate(dict.fromkeys(row.a.axes for row in result.pairs)):
        shown = [measure for measure in measures(result).values() if measure.key in ("label_use", "distance")]
        marked = [
            one for one in shown if any(one.of(row).significance == "corrected" for row in result.pairs)
        ]
        for place, measure in enumerate(marked):
            yield figure(pairs_matrix(result, axes, measure), f"pairs-{position}-{place}")


def _slices(result: RunResult, position: int) -> Iterator[str]:
    """Figures of the first groups of which something is marked."""
    found, what = result.slices[position], (names.lead_statistic(result), False)
    for place, group in enumerate(marked_groups(result, found)[:_DRAWN]):
        drawn = figure(slices_chart(result, found.column, group, what), f"slices-{position}-{place}")
        yield _lines(f"<h3>{escape(group_label(group))}</h3>", drawn)


def _axes(result: RunResult) -> str:
    table = document.dsi_in_numbers(result)
    many = result.permutations
    table["p of that group"] = [
        names.format_p_value(row.p_group, permutations=many) for row in ordered_dsi(result)
    ]
    caption = "DSI by axis. p and q: against the largest that the groups of random groupings reach."
    return frame(caption, table, 2)


def _chance(result: RunResult) -> str:
    """Null histograms of the statistics that make findings; of the others the numbers."""
    parts, others = list[str](), list[str]()
    for method, name in zip(contents.methods(result), names.reported_statistics(result), strict=False):
        table = document.statistics_in_numbers(result, [name]).drop(columns=["Statistic", "Axis"])
        outcomes = [names.outcome_of(row, name) for row in result.groups]
        table["Group"] = group_labels([row.group for row in result.groups])
        table[document.INTERVAL] = [
            names.format_interval(one) or str(one.no_interval or "") for one in outcomes
        ]
        table.insert(
            3, "Median of random groupings", [names.format_value(one.null_median) for one in outcomes]
        )
        numbers = frame(f"{method.name} of every group against random groupings", table, 1)
        heading = f"<h3>{escape(method.name)}</h3>\n"
        if name not in leading(result):
            others.append(f"{heading}{numbers}")
            continue
        drawn = figure(null_histograms(result, name), name.replace("_", "-"))
        beside = folded(f"{method.name} in numbers", numbers)
        parts.append(heading + _lines(paragraph(method.explanation), drawn, beside))
    if others:
        where = "Their histograms are on the page of the result, and in its JSON file."
        parts.append(folded("The other statistics in numbers", _lines(paragraph(where), *others)))
    return _lines(*parts)


def _rater_map(result: RunResult, found: RaterMap) -> str:
    sections = [*document.map_of_raters(found, result.spec.analysis.level)]
    told = listing(sentence(one) for section in sections for one in section.said)
    if found.reason is not None:
        return told
    axes, distances = (section.tables[0] for section in sections[1:])
    explained = frame(axes.caption, axes.frame, 1)
    figures = (
        figure(rater_map_chart(found, drawn), f"map-{place}")
        for place, drawn in enumerate(rater_map.drawn_axes(found))
    )
    apart = folded(distances.caption, f"{frame(distances.words, distances.frame, 2)}\n")
    return _lines(told, paragraph(axes.words), *figures, explained, apart)


def _lines(*parts: str) -> str:
    return "\n".join(filter(None, parts))


def _data(result: RunResult) -> str:
    read, timing = result.data, result.timing
    facts = {
        "Items": f"{read.items:,}",
        "Raters": f"{read.raters:,}",
        "Annotations": f"{read.annotations:,}",
        "Raters per item": contents.raters_per_item(result),
        "Computed in": f"{timing.load_s + timing.observed_s + timing.permutations_s:.1f} s",
    }
    labels = [(label, f"{count:,}") for label, count in zip(read.categories, read.label_counts, strict=False)]
    files = [
        (
            f"{file.name}, fetched from {file.source}" if file.source else file.name,
            f"{file.bytes:,}",
            file.sha256,
        )
        for file in read.files
    ]
    kinds = ("", "number", "hash")
    return _lines(
        rows("Counts", ("What", "Value"), facts.items(), kinds),
        rows("Annotations per label", ("Label", "Annotations"), labels, kinds),
        "" if read.account is None else paragraph(account_sentence(read.account)),
        rows("Input files", ("File", "Bytes", "SHA-256"), files, kinds) if files else "",
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
