"""A result as one HTML file that opens offline and needs no other file: the document with its figures."""

import base64
import functools
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd
from jinja2 import Template
from markupsafe import Markup

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.errors import MissingPackageError
from grasp_core.model.groups import group_label, group_labels
from grasp_core.model.result import Result, RunResult
from grasp_core.model.text import printable
from grasp_core.report import contents, document, models, rater_map
from grasp_core.report.account import account_sentence, how_it_ended
from grasp_core.report.charts.forest import (
    agreement_chart,
    dsi_chart,
    label_forest_plot,
    models_chart,
    slices_chart,
)
from grasp_core.report.charts.histograms import null_histograms
from grasp_core.report.charts.maps import cohesion_map, rater_map_chart
from grasp_core.report.charts.matrix import pairs_matrix
from grasp_core.report.charts.theme import FONT, PALETTES, to_svg
from grasp_core.report.charts.verdicts import verdict_chart
from grasp_core.report.everybody import agreement_tables, in_one_line
from grasp_core.report.findings.answer import ResultAnswer, answer
from grasp_core.report.findings.selection import judged, leading
from grasp_core.report.pairs import measures
from grasp_core.report.saved import spec_json
from grasp_core.report.slices import marked_groups
from grasp_core.report.tables import drawn_labels, not_drawn, wide_table, with_label_use
from grasp_core.report.words import label_use, names
from grasp_core.report.words.printable import printable_models, printable_result

_DRAWN = 4
"""Number of groups with a figure, for each column of slices."""
_OF_PHONES = 400
"""Width of a figure on a phone, in pixels; the phone draws it somewhat smaller."""
Parts = list[tuple[str, Any]]
"""Content below a heading, as pairs: the macro of report.html that draws it, and its data."""
_Section = tuple[str, str, Parts]
"""Key, heading and content."""
_HEADINGS = {"labels": "Label use", "pairs": "Groups two by two"}
"""Headings for sections of the document that have none of their own."""
_SIGNS = re.compile(r"(?<= )([↑↓]?)(\*{0,2})(†?)(‡?)(\??)$")
_WORDS = (
    {"↑": "above random groupings", "↓": "below random groupings"},
    {"**": names.SIGNIFICANCE_NAMES["corrected"], "*": names.SIGNIFICANCE_NAMES["nominal"]},
    {names.FITTED: "p fitted"},
)
"""Words that are read aloud for the signs behind a value."""


def report_html(result: RunResult, found: RaterMap | None = None) -> str:
    """HTML of answer, figures, tables, methods, data and spec; without scripts and without other files."""
    spec_file = spec_json(result)
    result = printable_result(result)
    return _rendered(result, _sections(result, found, spec_file))


def models_html(result: ModelsResult) -> str:
    """HTML of an analysis of models: the answer, its figure and tables, and the data."""
    result = printable_models(result)
    return _rendered(result, _of_models(result))


def _rendered(result: Result, sections: Iterator[_Section]) -> str:
    shuffled = f"{result.permutations:,} random groupings · " if result.permutations else ""
    return _page().render(
        title=contents.run_title(result.spec),
        themes={"light": (PALETTES["light"], "#F4F7F6"), "dark": (PALETTES["dark"], "#1B2426")},
        font=Markup(FONT),  # noqa: S704 - ours
        data=printable(label_use.labelled_sentence(result.spec.data, result.data)),
        made=f"{shuffled}GRASP {result.code_version}",
        sections=[*sections],
    )


def _signed(words: str) -> tuple[str, str, str, str] | None:
    """Split a cell: value, signs behind it, their colour, and words read aloud; None without signs."""
    found = _SIGNS.search(words)
    if found is None or not found.group():
        return None
    read = (known.get(sign) for known, sign in zip(_WORDS, found.groups(), strict=False))
    marks = {"**": " corrected", "*": " nominal"}.get(found[2], "")
    return words[: found.start()], found.group(), marks, ", ".join(filter(None, read))


@functools.cache
def _page() -> Template:
    """The template, compiled once, for the first report."""
    text = Path(__file__).with_name("report.html").read_text(encoding="utf-8")
    page: Template = Template(text, autoescape=True)
    page.globals["signed"] = _signed
    return page


def _table(caption: str, frame: pd.DataFrame, titles: int) -> tuple[str, Any]:
    """A table of texts: first columns of names, starting with the group, then numbers."""
    order = sorted(range(len(frame.columns)), key=lambda place: frame.columns[place] != "Group")
    cells = [[str(line[place]) for place in order] for line in frame.to_numpy().tolist()]
    kinds = [""] * titles + ["number"] * (len(order) - titles)
    return "table", (caption, [str(frame.columns[place]) for place in order], cells, kinds)


def _figure(chart: alt.LayerChart, narrow: alt.LayerChart | None = None) -> tuple[str, Any]:
    """A chart as an image that runs and fetches nothing; its description if it cannot be drawn."""
    described = str(chart.description)
    try:
        drawn = (to_svg(one).encode() for one in (chart, narrow) if one is not None)
        images = [base64.b64encode(one).decode() for one in drawn]
        return "figure", (images[0], described, *images[1:])
    except MissingPackageError as error:
        return "text", f"{described} (Not drawn: {error}.)"


def _sections(result: RunResult, found: RaterMap | None, spec_file: str) -> Iterator[_Section]:
    told, everybody = answer(result), result.everybody if result.of_everybody else None
    first = [*map(str, told.warned.first)]
    parts: Parts = [("headline", told.headline), ("text", "Careful:" if first else ""), ("list", first)]
    if everybody is None:
        phones = verdict_chart(result, narrow=True).properties(width=_OF_PHONES)
        parts += [_figure(verdict_chart(result), phones)] if judged(result) else []
    elif everybody.labels:
        parts.append(_figure(agreement_chart(result)))
    yield "answer", "Answer", [*parts, ("list", told.in_files)]
    if everybody is not None:
        tables = [_table(heading, one, 1) for heading, one in agreement_tables(everybody)]
        yield "agreement", "Agreement of all raters", tables
    else:
        yield from _of_groups(result, told)
    if found is not None:
        yield "raters", "Map of raters", _rater_map(result, printable_result(found))
    if everybody is None:
        statistics = {one.name: [one.explanation, one.formula] for one in contents.methods(result)}
        stated = contents.conventions(result.spec, result.stopping)
        formulas = ("folded", ("Statistics and their formulas", [("terms", statistics)]))
        conventions = ("folded", ("Conventions of this run", [("terms", stated)]))
        yield "methods", "Methods", [formulas, conventions]
    yield "data", "Data", _data(result)
    if result.data.files:
        yield "again", "Run it again", _again(result, spec_file)


def _of_models(result: ModelsResult) -> Iterator[_Section]:
    told = models.answer(result)
    how: Parts = [("text", one) for one in (names.SIDES_WITH, names.REPRODUCED, *how_it_ended(result))]
    yield "answer", "Answer", [("headline", told.headline), ("list", told.details), *how]
    if result.warnings:
        yield "warnings", "Warnings", [("list", [*map(str, result.warnings)])]
    caption = "Macro-F1 of each model against each group's own plurality"
    hidden = [_figure(models_chart(result)), _table(caption, models.plurality_table(result), 2)]
    yield "plurality", "What a plurality label hides", hidden
    parts: Parts = [("text", contents.marks_legend(result))]
    for name, words in names.SIDE_WORDS.items():
        table = _table(words.name, models.statistic_table(result, name), 2)
        parts += [("heading", words.name), ("text", words.explanation), table]
    yield "groups", "Every statistic", parts
    yield "data", "Data", _data(result)


def _of_groups(result: RunResult, told: ResultAnswer) -> Iterator[_Section]:
    others = [*map(str, told.warned.others)]
    yield "warnings", "Warnings", [("text", told.warned.lead), ("list", others)]
    caption = "DSI by axis. p and q: against the largest that the groups of random groupings reach."
    axes = [_figure(dsi_chart(result))]
    axes += [_table(caption, document.dsi_with_groups(result), 2)] if result.dsi else []
    yield "axes", "Which axis should recruitment watch?", axes
    few = ("text", not_drawn(result.groups))
    cohesion = [_figure(cohesion_map(result)), few]
    yield "cohesion", "Agreement inside and across groups", cohesion
    marked = "; ".join(f"{sign}: {meaning}" for sign, meaning in contents.marks(result))
    every, table = "Every statistic of every group", wide_table(result)
    table[["Raters", "Annotations"]] = table[["Raters", "Annotations"]].map("{:,}".format)
    parts: Parts = [
        ("text", in_one_line(result)),
        ("text", f"{marked}. {contents.brackets(result.spec.analysis)}"),
        ("folded", (every, [_table(every, table, 2), ("list", contents.not_estimable(result))])),
    ]
    yield "groups", "Groups", parts
    for one in document.further(result):
        if one.key != "dsi":
            yield one.key, one.heading or _HEADINGS[one.key], _found(result, one)
    yield "chance", "Against random groupings", _chance(result)


def _found(result: RunResult, one: document.Section) -> Parts:
    """A section of the document with its figures; its tables open by a click."""
    heading = one.heading or _HEADINGS[one.key]
    tables = [
        _table(table.caption, table.frame, table.names)
        for table in (*one.tables, *one.numbers)
        if not table.frame.empty
    ]
    said, figures, after = [*one.said], Parts(), Parts()
    if one.key == "labels":
        found = with_label_use(result)
        said = [
            label_use.label_use_sentence(row, use, result) for row, use in found if use.significance != "none"
        ]
        figures += [_figure(label_forest_plot(result, label)) for label in drawn_labels(result)]
        beside = [(row, label_use.mean_words(use, result)) for row, use in found]
        beside += [(row, f"no interval: {use.no_interval}.") for row, use in found if use.no_interval]
        words = [f"{group_label(row.group)}: {words}" for row, words in beside if words]
        after = [("text", names.LABEL_USE_FORMULA), ("list", words)]
    elif one.key == "pairs":
        # Label use and distance make findings.
        shown = [one for one in measures(result).values() if one.key in ("label_use", "distance")]
        marked = [
            one for one in shown if any(one.of(row).significance == "corrected" for row in result.pairs)
        ]
        axes = Counter(row.a.axes for row in result.pairs)
        several = [of for of, count in axes.items() if count > 1]  # a matrix of one pair says nothing more
        figures = [_figure(pairs_matrix(result, of, one)) for of in several for one in marked]
    elif one.key.startswith("slices"):
        figures = _slices(result, int(one.key.removeprefix("slices-")) - 1)
    numbers = ("folded", (f"{heading} in numbers", tables))
    few = ("text", not_drawn(result.groups) if figures and one.key in ("labels", "pairs") else "")
    return [("text", one.words), ("list", said), *figures, few, numbers, *after]


def _slices(result: RunResult, position: int) -> Parts:
    """Figures of the first groups that are marked in a slice."""
    found, what, parts = result.slices[position], (names.lead_statistic(result), False), Parts()
    for group in marked_groups(result, found)[:_DRAWN]:
        chart = slices_chart(result, found.column, group, what)
        parts += [("heading", group_label(group)), _figure(chart)]
    return parts


def _chance(result: RunResult) -> Parts:
    """Null histograms of the statistics that make findings; numbers of the others."""
    parts, others, few = Parts(), Parts(), ("text", not_drawn(result.groups))
    for method, name in zip(contents.methods(result), names.reported_statistics(result), strict=False):
        table = document.statistics_in_numbers(result, [name]).drop(columns=["Statistic", "Axis"])
        outcomes = [names.shown_outcome(row, name) for row in result.groups]
        table["Group"] = group_labels([row.group for row in result.groups])
        of = document.INTERVAL
        table[of] = [names.format_interval(one.interval) or str(one.no_interval or "") for one in outcomes]
        medians = [names.format_value(one.null_median) for one in outcomes]
        table.insert(3, "Median of random groupings", medians)
        numbers = _table(f"{method.name} of every group against random groupings", table, 1)
        if name not in leading(result):
            others += [("heading", method.name), numbers]
            continue
        histograms = _figure(null_histograms(result, name))
        beside = ("folded", (f"{method.name} in numbers", [numbers]))
        parts += [("heading", method.name), ("text", method.explanation), histograms, few, beside]
    if others:
        where = "Their histograms are on the page of the result, and in its JSON file."
        parts.append(("folded", ("The other statistics in numbers", [("text", where), *others])))
    return parts


def _rater_map(result: RunResult, found: RaterMap) -> Parts:
    sections = [*document.map_of_raters(found, result.spec.analysis.level)]
    told = ("list", [one for section in sections for one in section.said])
    if found.reason is not None:
        return [told]
    axes, distances = (section.tables[0] for section in sections[1:])
    figures = (_figure(rater_map_chart(found, one)) for one in rater_map.drawn_axes(found))
    apart = ("folded", (distances.caption, [_table(distances.words, distances.frame, 2)]))
    return [told, ("text", axes.words), *figures, _table(axes.caption, axes.frame, 1), apart]


def _data(result: Result) -> Parts:
    read, timing = result.data, result.timing
    seconds = timing.load_s + timing.observed_s + timing.permutations_s
    facts = contents.counts_of(read) | {"Computed in": f"{seconds:.1f} s"}
    labels = [(label, f"{count:,}") for label, count in zip(read.categories, read.label_counts, strict=False)]
    fetched = (f", fetched from {file.source}" if file.source else "" for file in read.files)
    files = [
        (f"{file.name}{whence}", f"{file.bytes:,}", file.sha256)
        for file, whence in zip(read.files, fetched, strict=True)
    ]
    kinds = ("", "number", "hash")
    return [
        ("table", ("Counts", ("What", "Value"), facts.items(), kinds)),
        ("table", ("Annotations per label", ("Label", "Annotations"), labels, kinds)),
        ("text", "" if read.account is None else account_sentence(read.account)),
        ("table", files and ("Input files", ("File", "Bytes", "SHA-256"), files, kinds)),
        ("hash", read.sha256),
    ]


def _again(result: RunResult, spec_file: str) -> Parts:
    """The command and the spec that give the same numbers."""
    names = [shlex.quote(file.source or file.name) for file in result.data.files]
    beside = ["--raters"] * (len(names) - 1 - (result.spec.data.items_id is not None))
    options = ["--annotations", *beside, "--items"]
    files = [f"{option} {name}" for option, name in zip(options, names, strict=False)]
    command = " ".join(["grasp run --spec spec.json", *files])
    how = f"With the same files and GRASP {result.code_version} this gives the same numbers:"
    return [
        ("text", f"Save the text below as spec.json. {how}"),
        ("code", ("Command", command)),
        ("code", ("Spec as JSON", spec_file)),
    ]
