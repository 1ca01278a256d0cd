"""A group's items in sentences and tables."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Literal

import pandas as pd

from grasp_core.analysis.items.outcomes import Contribution, ItemOutcome, ItemsResult, Measure, TopTenth
from grasp_core.model.groups import axis_label, group_label, one_line, spoken
from grasp_core.model.spec import LEVEL
from grasp_core.model.text import (
    Segment,
    Sentence,
    agree,
    csv_text,
    number,
    printable,
    printable_name,
    safe_cell,
    strong,
)
from grasp_core.report.tables import Column, exact, texts
from grasp_core.report.words import names

_TEXTS: Mapping[Measure, Mapping[str, str]] = names.TEXTS["items"]
MEASURES: Mapping[Measure, str] = {measure: one["name"] for measure, one in _TEXTS.items()}
"""Names that people read for the measures of items."""
EXPLANATIONS: Mapping[Measure, str] = {measure: one["explanation"] for measure, one in _TEXTS.items()}
Ranked = tuple[ItemOutcome, Contribution]
"""An item, and its part of a measure."""
TEXT_LIMIT = 300
"""Characters of an item's text that are shown."""
_LABELS = 4
"""Number of labels whose shares are shown for each side; the rest are added up."""


def cut_text(text: str) -> str:
    """Put an item's text on one line; a text over :data:`TEXT_LIMIT` is cut and ends in an ellipsis."""
    start = text[: 4 * TEXT_LIMIT]
    shown = " ".join(printable(start).split())
    whole = len(shown) <= TEXT_LIMIT and len(start) == len(text)
    return shown if whole else f"{shown[:TEXT_LIMIT]}…"


def items_title(result: ItemsResult) -> str:
    """Title of the group's items, also used as the name of files."""
    return f"Items of {group_label(result.group)} ({axis_label(result.group.axes)})"


def item_name(row: ItemOutcome) -> str:
    """An item's id on one line."""
    return one_line(printable_name(row.item))


def shares(counts: Mapping[str, int]) -> str:
    """A side's labels, such as ``“No” 78 %, “Yes” 22 % (9)``, most frequent first."""
    total = sum(counts.values())
    ranked = sorted(((n, label) for label, n in counts.items() if n), key=lambda pair: -pair[0])
    shown = [f"“{one_line(printable_name(label))}” {percent(n / total)}" for n, label in ranked[:_LABELS]]
    rest = sum(n for n, _ in ranked[_LABELS:])
    shown += [f"other labels {percent(rest / total)}"] if rest else []
    return f"{', '.join(shown)} ({total:,})"


def points(value: float, digits: int = 1) -> str:
    """A share in percentage points, with its sign."""
    text = f"{100 * value:+.{digits}f}"
    return text.removeprefix("+") if float(text) == 0 else text.replace("-", names.MINUS)


def percent(value: float) -> str:
    """A share in whole per cent, with a true minus sign."""
    return f"{round(100 * value):,} %".replace("-", names.MINUS)


_NAMED = 5
"""Number of items named in one sentence; the rest is only counted."""


def ranked(result: ItemsResult, measure: Measure) -> list[Ranked]:
    """The items that have a part, largest first; parts of label use by size in either direction."""
    found = [(row, part) for row in result.items if (part := row.of(measure)) is not None]
    return sorted(found, key=lambda pair: -(pair[1].value if measure == "distance" else abs(pair[1].value)))


def sentences(result: ItemsResult, measure: Measure) -> list[Sentence]:
    """Sentences on the group's whole difference, items that differ, share of the top tenth, and advice."""
    spread = result.spread[measure]
    if spread.reason is not None:
        return [Sentence.of(_group(result), f": {spread.reason}, so no item has a distance.")]
    parts = ranked(result, measure)
    held = [row for row, part in parts if part.significance == "corrected"]
    found = [_whole(result, measure), _single(result, measure, parts, held)]
    # Beside items that differ more than luck explains, "as luck would spread it" reads as their opposite.
    if spread.top is not None and (not held or _few_make_much(spread.top)):
        found.append(_top(measure, spread.top))
    return [*found, _what_to_do(spread.top, held)]


def _few_make_much(top: TopTenth | None) -> bool:
    return top is not None and top.high is not None and top.share > top.high


def _group(result: ItemsResult) -> Segment:
    return strong(spoken(result.group))


def _whole(result: ItemsResult, measure: Measure) -> Sentence:
    spread = result.spread[measure]
    on = f"on {number(spread.items, 'item')} that both sides labelled. Their verdict says whether it is luck"
    if measure == "distance":
        size = f"by a distance of {names.format_value(result.distance)}, {on}."
        return Sentence.of(_group(result), f" raters’ answers differ from the others’ {size}")
    if not any(result.label_use.values()):
        return Sentence.of(_group(result), f" raters use the labels as often as the others do, {on}.")
    label, value = max(result.label_use.items(), key=lambda pair: (abs(pair[1]), pair[1]))
    often = f"{points(abs(value)).removeprefix('+')} points {'more' if value > 0 else 'less'} often"
    name = strong(one_line(printable_name(label)))
    return Sentence.of(_group(result), " raters say “", name, f"” {often} than the others, {on}.")


def _single(result: ItemsResult, measure: Measure, parts: list[Ranked], held: list[ItemOutcome]) -> Sentence:
    tested = result.spread[measure].tested
    if not tested:
        return Sentence.of("No item could be tested.")
    if held:
        on, makes = f"On {len(held):,} of {number(tested, 'item')}", agree(len(held), "makes", "make")
        if measure == "distance":
            share = percent(_apart(held) / _apart(result.items))
            on += f", which {makes} {share} of all distance on single items,"
        return Sentence.of(f"{on} both sides differ more than luck explains: ", *_names(held), ".")
    nominal = sum(part.significance == "nominal" for _, part in parts)
    chance = round(tested * LEVEL)
    return Sentence.of(
        strong("On no single item"),
        f" do both sides differ more than luck explains among {number(tested, 'item')}. {nominal:,} "
        f"{agree(nominal, 'is a hint', 'are hints')}; luck alone would give about {chance:,}.",
    )


def _apart(rows: Sequence[ItemOutcome]) -> float:
    """Add up the distances above 0 of items, of which the top tenth has its share, too."""
    return sum(max(row.distance.value, 0.0) for row in rows if row.distance is not None)


def _names(held: list[ItemOutcome]) -> list[str | Segment]:
    named: list[str | Segment] = []
    for row in held[:_NAMED]:
        manner, part = "", row.label_use
        if part.label is not None and part.significance != "none":
            often = "more" if part.value > 0 else "less"
            manner = f" (“{one_line(printable_name(part.label))}” {often} often)"
        named += [", " if named else "", strong(item_name(row)), manner]
    more = len(held) - _NAMED
    return [*named, f" and {more:,} more"] if more > 0 else named


def _top(measure: Measure, top: TopTenth) -> Sentence:
    what = "distance" if measure == "distance" else "difference in label use"
    tenth = f"The tenth with most of it ({number(top.items, 'item')})"
    share = f"{tenth} makes {percent(top.share)} of all {what} on single items"
    if top.chance is None or top.low is None or top.high is None:
        return Sentence.of(f"{share}; there are too few permutations to say what luck would give.")
    if _few_make_much(top):
        meaning = "Few items make much of the difference"
    elif top.share < top.low:
        meaning = "The difference is spread more evenly over items than luck would spread it"
    else:
        meaning = "Luck would spread the difference over items likewise"
    luck = f"by luck it would be {percent(top.chance)} ({percent(top.low)} to {percent(top.high)})"
    return Sentence.of(f"{share}; {luck}. {meaning}.")


def _what_to_do(top: TopTenth | None, held: list[ItemOutcome]) -> Sentence:
    if held:
        these = "this item" if len(held) == 1 else "these items"
        return Sentence.of(f"Read {these} first, beside both sides’ labels.")
    if _few_make_much(top):
        return Sentence.of("Read the items at the top of the table together: few items make much of it.")
    return Sentence.of("Any difference is spread over many items: reading single ones will not explain it.")


MARKS = (
    f"*: {names.SIGNIFICANCE_NAMES['nominal']}, p < {LEVEL:g}; "
    f"**: {names.SIGNIFICANCE_NAMES['corrected']}, q < {LEVEL:g}."
)
"""The meaning of the stars in a table of items."""
_SIDES = ("group", "others")
_OTHERS = "Others"
ItemOrder = Literal["part", "p", "item"]
"""Order of rows: by the size of the item's part, by its p-value, or as in the data."""
_TESTS = ("", "_p", "_q", "_significance", "_reason")
CSV_COLUMNS = (
    *("item", "n_group", "n_others", "label"),
    *(f"{measure}{test}" for measure in ("label_use", "distance") for test in _TESTS),
)
"""Columns of the CSV; after them are two for each label, ``group: LABEL`` and ``others: LABEL``."""


def first_measure(result: ItemsResult) -> Measure:
    """The measure that items are shown by until another one is chosen."""
    return "label_use" if result.distance is None else "distance"


def telling(result: ItemsResult, label: str | None, sign: float) -> list[tuple[ItemOutcome, str]]:
    """Items and the label of each that shows a finding, in the order of :func:`first_measure`.

    Of a finding on `label`, only items on which the group gives it more (`sign` above 0) or less often; of
    another finding, each item's own label.
    """
    rows = [row for row, _ in ranked(result, first_measure(result))]
    if label is not None:
        same = [(row, label) for row in rows if _more_often(row, label) * sign > 0]
        if same:
            return same
    return [(row, row.label_use.label or max(row.inside, key=lambda one: row.inside[one])) for row in rows]


def _more_often(row: ItemOutcome, label: str) -> float:
    inside, outside = (of.get(label, 0) / sum(of.values()) for of in (row.inside, row.outside))
    return inside - outside


def in_order(result: ItemsResult, measure: Measure, order: ItemOrder) -> list[Ranked]:
    """The items that have a part of a measure, in this order."""
    found = ranked(result, measure)
    if order == "p":
        return sorted(found, key=lambda pair: 2.0 if pair[1].p is None else pair[1].p)
    if order == "item":
        place = {row.item: at for at, row in enumerate(result.items)}
        return sorted(found, key=lambda pair: place[pair[0].item])
    return found


def items_columns(
    result: ItemsResult, measure: Measure, texts_of: Mapping[str, str] | None
) -> Iterator[Column]:
    """Columns of items with their parts, for people, programs and a workbook, which has no shares."""
    p = partial(names.format_p_value, permutations=result.permutations)

    def label(one: Ranked) -> str:
        return printable_name(one[1].label or "")

    def starred(part: Contribution) -> str:
        return f"{part_text(_apart(result.items), measure, part)} {names.STARS[part.significance]}".rstrip()

    yield Column(lambda one: item_name(one[0]), "Item")
    yield Column(lambda one: one[0].item, name="item")
    yield Column(lambda one: printable(one[0].item), sheet="Item")
    if texts_of is not None:
        yield Column(lambda one: texts_of.get(one[0].item, ""), "Text", cut_text, name="text")
        yield Column(lambda one: cut_text(texts_of.get(one[0].item, "")), sheet="Text")
    if measure == "label_use":
        yield Column(lambda one: one_line(label(one)), "Label")
        yield Column(lambda one: one[1].label, name="label")
        yield Column(label, sheet="Label")
        yield Column(lambda one: 100 * one[1].value, sheet="Part, points", kind="points")
    value = "" if measure == "label_use" else "Part"
    yield Column(lambda one: one[1], "Part", starred)
    yield Column(lambda one: one[1].value, name="part", sheet=value, kind="value")
    yield Column(lambda one: one[0].inside, _group_head(result), shares)
    yield Column(lambda one: one[0].outside, _OTHERS, shares)
    yield Column(lambda one: one[1].p, "p", p, "p", "p", "p")
    yield Column(lambda one: one[1].q, "q", p, "q", "q", "p")
    yield Column(lambda one: one[1].significance, name="significance")
    yield Column(lambda one: names.STARS[one[1].significance], sheet="*", kind="mark")
    for of in result.label_use:
        for side, counts in (("group", attrgetter("inside")), ("others", attrgetter("outside"))):
            given = partial(lambda counts, of, one: counts(one[0]).get(of, 0), counts, of)
            head = f"{side.capitalize()}: {printable_name(of)}"
            yield Column(given, name=f"{side}: {of}", sheet=head, kind="count")


def items_table(
    result: ItemsResult, measure: Measure, rows: Sequence[Ranked], texts_of: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Items with their parts, both sides' labels, p and q, as text."""
    return texts(items_columns(result, measure, texts_of), rows) if rows else pd.DataFrame()


def side_bars(result: ItemsResult, rows: Sequence[Ranked]) -> dict[str, list[list[float]]]:
    """Shares of the labels, in order, for each item and both sides' columns of :func:`items_table`."""
    labels = list(result.label_use)

    def shares_of(counts: Mapping[str, int]) -> list[float]:
        total = sum(counts.values())
        return [round(counts.get(label, 0) / total, 3) if total else 0.0 for label in labels]

    return {
        _group_head(result): [shares_of(row.inside) for row, _ in rows],
        _OTHERS: [shares_of(row.outside) for row, _ in rows],
    }


def _group_head(result: ItemsResult) -> str:
    """The group's name, followed by "raters" if another column has the same name."""
    name = spoken(result.group)
    return f"{name} raters" if name in ("Item", "Text", "Label", "Part", _OTHERS, "p", "q") else name


def part_text(whole: float, measure: Measure, part: Contribution) -> str:
    """Write a part for people: in points for label use; for distance as a share of the `whole`, too."""
    if measure == "label_use":
        return f"{points(part.value, 2)} points"
    value = f"{part.value:.5f}".replace("-", names.MINUS)
    if abs(part.value) >= 0.0005:
        value = names.format_value(part.value)
    return f"{value} ({percent(part.value / whole)})" if part.value > 0 else value


def items_csv(result: ItemsResult) -> str:
    """Every number at full precision, one line per item, in the order of the data."""
    labels, rows = list(result.label_use), []
    header = [*CSV_COLUMNS, *(safe_cell(f"{side}: {label}") for label in labels for side in _SIDES)]
    for row in result.items:
        counts = [str(of.get(label, 0)) for label in labels for of in (row.inside, row.outside)]
        sizes = [str(sum(of.values())) for of in (row.inside, row.outside)]
        label = safe_cell(row.label_use.label or "")
        parts = [label, *_tests(row.label_use), *_tests(row.distance)]
        rows.append([safe_cell(row.item), *sizes, *parts, *counts])
    return csv_text(header, rows, end="\r\n")


def _tests(part: Contribution | None) -> list[str]:
    if part is None:
        return [""] * len(_TESTS)
    reason = "" if part.reason is None else safe_cell(str(part.reason))
    return [exact(part.value), exact(part.p), exact(part.q), part.significance, reason]
