"""Which items carry a group's distance or label use, in sentences: how much, how sure, what to do."""

from __future__ import annotations

from grasp_core.outcome import Significance
from grasp_core.panels.items.result import Contribution, ItemOutcome, ItemsResult, Measure, TopTenth
from grasp_core.report.items.words import item_name, percent, points
from grasp_core.report.words.names import format_value, group_label, one_line
from grasp_core.report.words.printable import printable_name
from grasp_core.report.words.text import Segment, Sentence
from grasp_core.spec import LEVEL
from grasp_core.wording import agree, number

_NAMED = 5
"""Items named in one sentence before the rest is only counted."""


def ranked(result: ItemsResult, measure: Measure) -> list[tuple[ItemOutcome, Contribution]]:
    """The items that have a part, largest first: of label use in either direction."""
    found = [(row, part) for row in result.items if (part := row.of(measure)) is not None]
    if measure == "distance":
        return sorted(found, key=lambda pair: -pair[1].value)
    return sorted(found, key=lambda pair: -abs(pair[1].value))


def sentences(result: ItemsResult, measure: Measure) -> list[Sentence]:
    """The group's whole, the items that hold, what the top tenth carries, and what to do."""
    spread = result.spread[measure]
    if spread.reason is not None:
        return [Sentence.of(_group(result), f": {spread.reason}, so distance cannot be laid to items.")]
    parts = ranked(result, measure)
    held = held_items(result)
    found = [_whole(result, measure), _single(result, measure, parts, held)]
    if spread.top is not None:
        found.append(_top(measure, spread.top))
    return [*found, _what_to_do(spread.top, held)]


def held_items(result: ItemsResult) -> list[ItemOutcome]:
    """The items that hold by label use or distance, each corrected over items; strongest first.

    They are the same whichever measure is looked at.
    """
    found = [(q, row) for row in result.items if (q := _q(row)) < LEVEL]
    return [row for _, row in sorted(found, key=lambda pair: pair[0])]


def _q(row: ItemOutcome) -> float:
    parts = (row.label_use, row.distance)
    own = [part.q for part in parts if part is not None and part.q is not None]
    return min(own, default=1.0)


def _group(result: ItemsResult) -> Segment:
    return Segment(group_label(result.group), strong=True)


def _marked(
    parts: list[tuple[ItemOutcome, Contribution]], significance: Significance
) -> list[tuple[ItemOutcome, Contribution]]:
    return [(row, part) for row, part in parts if part.significance == significance]


def _whole(result: ItemsResult, measure: Measure) -> Sentence:
    spread = result.spread[measure]
    on = f"on {number(spread.items, 'item')} that both sides labelled"
    if measure == "distance":
        return Sentence.of(
            _group(result), f" raters lie {format_value(result.distance)} from the others, {on}."
        )
    if not any(result.label_use.values()):
        return Sentence.of(_group(result), f" raters use the labels as often as the others do, {on}.")
    label, value = max(result.label_use.items(), key=lambda pair: (abs(pair[1]), pair[1]))
    often = "more" if value > 0 else "less"
    return Sentence.of(
        _group(result),
        " raters say “",
        Segment(one_line(printable_name(label)), strong=True),
        f"” {points(abs(value)).removeprefix('+')} points {often} often than the others, {on}.",
    )


def _single(
    result: ItemsResult,
    measure: Measure,
    parts: list[tuple[ItemOutcome, Contribution]],
    held: list[ItemOutcome],
) -> Sentence:
    tested = result.spread[measure].tested
    if not tested:
        return Sentence.of("No item could be tested.")
    if held:
        carry = f", which {agree(len(held), 'carries', 'carry')} {_carried(result, held)} of it,"
        return Sentence.of(
            f"{len(held):,} of {number(tested, 'item')}{carry if measure == 'distance' else ''} "
            f"{agree(len(held), 'holds', 'hold')} after correction, by label use or distance: ",
            *_names(held),
            ".",
        )
    nominal = len(_marked(parts, "nominal"))
    chance = round(tested * LEVEL)
    return Sentence.of(
        Segment("No single item holds", strong=True),
        f" after correction for testing {number(tested, 'item')}; {nominal:,} may be luck, "
        f"which alone would mark about {chance:,}.",
    )


def _carried(result: ItemsResult, held: list[ItemOutcome]) -> str:
    whole = result.distance or 0.0
    some = sum(row.distance.value for row in held if row.distance is not None)
    return percent(some / whole) if whole > some > 0 else format_value(some)


def _names(held: list[ItemOutcome]) -> list[str | Segment]:
    named: list[str | Segment] = []
    for row in held[:_NAMED]:
        manner, part = "", row.label_use
        if part.label is not None and part.significance != "none":
            often = "more" if part.value > 0 else "less"
            manner = f" (“{one_line(printable_name(part.label))}” {often} often)"
        named += [", " if named else "", Segment(item_name(row), strong=True), manner]
    more = len(held) - _NAMED
    return [*named, f" and {more:,} more"] if more > 0 else named


def _top(measure: Measure, top: TopTenth) -> Sentence:
    what = "distance" if measure == "distance" else "difference in label use"
    tenth = f"The tenth of items that carries most ({number(top.items, 'item')})"
    carries = f"{tenth} has {percent(top.share)} of all {what} on single items"
    if top.chance is None or top.low is None or top.high is None:
        return Sentence.of(f"{carries}; too few permutations say what chance would give.")
    if top.share > top.high:
        than, meaning = "more than", "few items carry much of it"
    elif top.share < top.low:
        than, meaning = "less than", "it lies more evenly over items than chance would leave it"
    else:
        than, meaning = "about", "it lies on few items no more than chance would leave it"
    within = f"{percent(top.low)} to {percent(top.high)} in 95 % of permutations"
    return Sentence.of(f"{carries}, {than} the {percent(top.chance)} by chance ({within}): {meaning}.")


def _what_to_do(top: TopTenth | None, held: list[ItemOutcome]) -> Sentence:
    if held:
        these, them = ("this item", "it") if len(held) == 1 else ("these items", "them")
        return Sentence.of(f"Look at {these}: read {them} beside both sides’ labels before any other.")
    if top is not None and top.high is not None and top.share > top.high:
        return Sentence.of("Few items carry much: look at those at the top of the table, as a set.")
    return Sentence.of(
        "What there is of a difference is spread over many items: reading single ones will not explain it."
    )
