"""A result as one HTML file that opens offline and needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from html import escape

from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.groups import axis_label, group_label, group_labels
from grasp_core.model.outcome import Outcome
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import DsiResult, Everybody, RunResult
from grasp_core.model.text import printable
from grasp_core.report.charts import (
    agreement_chart,
    cohesion_map,
    dsi_chart,
    null_histograms,
    verdict_chart,
)
from grasp_core.report.contents import (
    Method,
    brackets,
    conventions,
    marks,
    methods,
    not_estimable,
    run_title,
)
from grasp_core.report.everybody import agreement_tables, in_one_line
from grasp_core.report.findings.findings import judged, leading
from grasp_core.report.findings.mending import Warned
from grasp_core.report.findings.sentences import Answer, answer
from grasp_core.report.rater_map import printable_map
from grasp_core.report.saved import spec_json
from grasp_core.report.tables import with_label_use
from grasp_core.report.words.label_use import labelled_sentence
from grasp_core.report.words.names import (
    SIGNIFICANCE_NAMES,
    WORDS,
    arrow,
    format_interval,
    format_p_value,
    format_value,
    outcome_of,
    p_text,
    reported_statistics,
    signs,
)
from grasp_core.report.words.printable import printable_result
from grasp_core.report.writers._html_sections import (
    STYLE,
    Cell,
    again,
    data,
    definitions,
    figure,
    frame,
    given,
    label_use,
    listing,
    number,
    pairs,
    rater_map,
    sentence,
    slices,
    table,
    text,
)

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_SECTIONS = {
    "answer": "Answer",
    "warnings": "Warnings",
    "axes": "Which axis should recruitment watch?",
    "agreement": "Agreement of all raters",
    "cohesion": "Agreement inside and across groups",
    "groups": "Groups",
    "labels": "Label use",
    "pairs": "Groups two by two",
    "chance": "Against random groupings",
    "slices": "Slices",
    "given": "Given another axis",
    "raters": "Map of raters",
    "methods": "Methods",
    "data": "Data",
    "again": "Run it again",
}
_DIRECTIONS = {"up": "above random groupings", "down": "below random groupings", None: ""}


def report_html(result: RunResult, found: RaterMap | None = None) -> str:
    """Answer, figures, tables, methods, data and spec; without scripts and without any other file.

    `found`: the map of the run's raters, where it was made.

    The figures are the page's own, on white in both themes. A content security policy in the file
    forbids what it does not need, should it lie on a server one day.
    """
    spec_file = spec_json(result)
    result = printable_result(result)
    title = escape(run_title(result.spec))
    contents = _contents(result, spec_file)
    if found is not None:
        contents["raters"] = rater_map(printable_map(found), result.spec.analysis.level)
    contents = {name: contents[name] for name in _SECTIONS if name in contents}
    links = listing(f'<a href="#{name}">{escape(_SECTIONS[name])}</a>' for name in contents)
    sections = "\n".join(
        f'<section id="{name}">\n<h2>{escape(_SECTIONS[name])}</h2>\n{content}\n</section>'
        for name, content in contents.items()
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p>{_labelled(result)}</p>
<p class="muted">{_facts(result)}</p>
<nav aria-label="Contents">{links}</nav>
{sections}
</main>
</body>
</html>
"""


def _contents(result: RunResult, spec_file: str) -> dict[str, str]:
    """The sections of the result itself."""
    found = answer(result)
    if result.of_everybody and result.everybody is not None:
        return _of_everybody(result, result.everybody, found, spec_file)
    contents = {
        "answer": _answer(result, found),
        "axes": _axes(result),
        "cohesion": figure(cohesion_map(result), "cohesion"),
        "groups": _groups(result),
        "chance": _chance(result),
        "methods": _methods(result),
        "warnings": _warnings(found.warned),
        "data": data(result),
    }
    if with_label_use(result):
        contents["labels"] = label_use(result)
    if result.pairs:
        contents["pairs"] = pairs(result)
    if result.slices:
        contents["slices"] = slices(result)
    if result.given:
        contents["given"] = given(result)
    if result.data.files:
        contents["again"] = again(result, spec_file)
    return contents


def _of_everybody(result: RunResult, told: Everybody, found: Answer, spec_file: str) -> dict[str, str]:
    """The sections where all raters were looked at together."""
    drawn = figure(agreement_chart(result), "agreement") if told.labels else ""
    tables = [frame(heading, one, 1) for heading, one in agreement_tables(told)]
    contents = {
        "answer": _answer(result, found) + drawn,
        "agreement": "\n".join(tables),
        "data": data(result),
    }
    if result.data.files:
        contents["again"] = again(result, spec_file)
    return contents


def _labelled(result: RunResult) -> str:
    return escape(printable(labelled_sentence(result.spec.data, result.data)))


def _facts(result: RunResult) -> str:
    shuffled = f"{result.permutations:,} random groupings · " if result.permutations else ""
    return escape(f"{shuffled}GRASP {result.code_version}")


def _answer(result: RunResult, found: Answer) -> str:
    first = _remarks(found.warned.first)
    mind = f"<p>Mind first:</p>{first}" if first else ""
    headline = f'<p class="headline">{sentence(found.headline)}</p>'
    drawn = figure(verdict_chart(result), "verdicts") if judged(result) else ""
    return "\n".join([headline, mind, drawn, listing(map(sentence, found.details))])


def _warnings(found: Warned) -> str:
    lead = f"<p>{escape(found.lead)}</p>\n" if found.lead else ""
    return f"{lead}{_remarks(found.others)}"


def _remarks(remarks: Iterable[Remark]) -> str:
    return listing(escape(str(one)) for one in remarks)


def _axes(result: RunResult) -> str:
    drawn = figure(dsi_chart(result), "dsi")
    if not result.dsi:
        return drawn
    heads = [text("Axis"), number("DSI"), text("Attained by"), number("95 % interval")]
    heads += [number(head) for head in ("p", "q", "p of that group")]
    ranked = sorted(result.dsi, key=lambda row: (row.outcome.value is None, -(row.outcome.value or 0)))
    caption = "DSI by axis. p and q: against the largest that the groups of random groupings reach."
    return drawn + table(caption, heads, [_axis_row(row, result) for row in ranked])


def _axis_row(row: DsiResult, result: RunResult) -> list[Cell]:
    return [
        text(axis_label(row.axes)),
        _value(replace(row.outcome, direction=None)),  # a maximum is compared upwards only
        text("" if row.group is None else group_label(row.group)),
        number(format_interval(row.outcome)),
        number(p_text(row.outcome, permutations=result.permutations)),
        *(_p(p, result) for p in (row.outcome.q, row.p_group)),
    ]


def _groups(result: RunResult) -> str:
    statistics = reported_statistics(result)
    heads = [text("Group"), text("Axis"), number("Raters"), number("Annotations")]
    heads += [number(WORDS[name].name) for name in statistics]
    rows = [
        [
            text(group_label(row.group)),
            text(axis_label(row.group.axes)),
            number(f"{row.n_raters:,}"),
            number(f"{row.n_annotations:,}"),
            *(_value(outcome_of(row, name)) for name in statistics),
        ]
        for row in result.groups
    ]
    signs = "; ".join(f"{sign}: {meaning}" for sign, meaning in marks(result.spec.analysis))
    missing = listing(map(escape, not_estimable(result)))
    signs = f"{signs}. {brackets(result.spec.analysis)}"
    everybody = f"<p>{escape(in_one_line(result))}</p>\n" if result.everybody is not None else ""
    drawn = table("Every statistic of every group", heads, rows)
    folded = f"<details><summary>Every statistic of every group</summary>\n{drawn}\n{missing}</details>"
    return f"{everybody}<p>{escape(signs)}</p>\n{folded}"


def _value(outcome: Outcome) -> Cell:
    """The value with its signs, which are read out as words."""
    shown = escape(format_value(outcome.value))
    beside = f"{arrow(outcome)}{signs(outcome)}"
    if not beside:
        return Cell(shown, "number")
    result = "" if outcome.significance == "none" else SIGNIFICANCE_NAMES[outcome.significance]
    fitted = "" if outcome.fit is None else "p fitted"
    words = ", ".join(filter(None, (_DIRECTIONS[outcome.direction], result, fitted)))
    return Cell(
        f'{shown} <span aria-hidden="true">{beside}</span><span class="unseen">{words}</span>',
        f"number {outcome.significance}",
    )


def _p(p: float | None, result: RunResult) -> Cell:
    return number(format_p_value(p, permutations=result.permutations))


def _chance(result: RunResult) -> str:
    """Null histograms of the statistics that make findings; of the others the numbers."""
    named = list(zip(methods(result), reported_statistics(result), strict=False))  # DSI is last, without one
    first = [(method, name) for method, name in named if name in leading(result)]
    others = [
        f"<h3>{escape(method.name)}</h3>\n{_in_numbers(result, method, name)}"
        for method, name in named
        if (method, name) not in first
    ]
    rest = (
        "<details><summary>The other statistics in numbers</summary>\n<p>Their histograms are on the page of "
        f"the result, and in its JSON file.</p>\n{chr(10).join(others)}</details>"
    )
    return "\n".join([*(_statistic(result, one, name) for one, name in first), *([rest] if others else [])])


def _statistic(result: RunResult, method: Method, statistic: str) -> str:
    drawn = figure(null_histograms(result, statistic), statistic.replace("_", "-"))
    return (
        f"<h3>{escape(method.name)}</h3>\n<p>{escape(method.explanation)}</p>\n{drawn}\n"
        f"<details><summary>{escape(method.name)} in numbers</summary>\n"
        f"{_in_numbers(result, method, statistic)}</details>"
    )


def _in_numbers(result: RunResult, method: Method, statistic: str) -> str:
    names = group_labels([row.group for row in result.groups])
    columns = (method.name, "95 % interval", "Median of random groupings", "p", "q")
    heads = [text("Group"), *map(number, columns)]
    rows = [
        _numbers(name, outcome_of(row, statistic), result)
        for name, row in zip(names, result.groups, strict=True)
    ]
    return table(f"{method.name} of every group against random groupings", heads, rows)


def _numbers(name: str, outcome: Outcome, result: RunResult) -> list[Cell]:
    return [
        text(name),
        _value(outcome),
        number(escape(format_interval(outcome) or str(outcome.no_interval or ""))),
        number(format_value(outcome.null_median)),
        number(p_text(outcome, permutations=result.permutations)),
        _p(outcome.q, result),
    ]


def _methods(result: RunResult) -> str:
    statistics = {
        method.name: f"<p>{escape(method.explanation)}</p>\n<p>{escape(method.formula)}</p>"
        for method in methods(result)
    }
    stated = {name: escape(words) for name, words in conventions(result.spec, result.stopping)}
    return (
        f"<details><summary>Statistics and their formulas</summary>\n{definitions(statistics)}</details>\n"
        f"<details><summary>Conventions of this run</summary>\n{definitions(stated)}</details>"
    )
