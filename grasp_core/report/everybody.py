"""Agreement of all raters together, in sentences and tables (docs/methods.md, "Everybody")."""

from collections.abc import Iterator

import pandas as pd

from grasp_core.model.annotations import is_number
from grasp_core.model.groups import one_line
from grasp_core.model.result import Everybody, LabelAgreement, RunResult
from grasp_core.model.text import Segment, Sentence, agree, number, spelled, strong
from grasp_core.report.tables import Column, texts
from grasp_core.report.words.names import NOT_ESTIMABLE, format_value, in_brackets, two_decimals

WELL, FAIRLY_WELL, IN_PART, LITTLE = 0.8, 2 / 3, 0.4, 0.2
"""From 0.8 on Krippendorff calls data reliable, from 2/3 on good enough for tentative conclusions (Content
Analysis, chapter 12). Below that the words are ours."""
HOW_TO_READ = "0 is chance, 1 is perfect"
FEWEST_ANSWERS = 20
"""Number of answers below which a label is not named as least agreed on."""
FEW_RATERS = 20
"""Number of raters below which a sentence calls them few for groups."""


def agreement_title(result: RunResult) -> Sentence:
    """Say in one sentence how well raters agree, e.g. "Your 8 raters agree fairly well: 0.65"."""
    found, raters = result.everybody, result.data.raters
    if raters == 1:
        return Sentence.of("One rater alone has nobody to agree with")
    if found is None or found.alpha is None:
        why = "" if found is None or found.reason is None else f": {found.reason}"
        return Sentence.of(f"How well your {number(raters, 'rater')} agree cannot be told{why}")
    words = how_well(found)
    return Sentence.of(f"Your {number(raters, 'rater')} {words}: ", strong(two_decimals(found.alpha)))


def all_together(result: RunResult) -> Sentence | None:
    """Say how well all raters agree and how they would agree more, for results without a clear difference."""
    found = result.everybody
    if found is None or found.alpha is None:
        return None
    advice = agreement_advice(found)
    to_do = "" if advice is None else f" {advice.plain}"
    how = f"They {how_well(found)}: {two_decimals(found.alpha)} (0 is chance, 1 is perfect).{to_do}"
    return Sentence.of(how)


def how_well(found: Everybody) -> str:
    """Describe Krippendorff's alpha in the words of a scale."""
    alpha = found.alpha or 0.0
    if alpha <= 0 or (found.low is not None and found.low <= 0):
        return "agree no more than chance"
    scale = ((WELL, "well"), (FAIRLY_WELL, "fairly well"), (IN_PART, "in part"), (LITTLE, "little"))
    for least, words in scale:
        if alpha >= least:
            return f"agree {words}"
    return "hardly agree"


def how_sure_agreement(found: Everybody) -> Sentence | None:
    """Explain alpha, its interval, and the label that raters agree on least; None without alpha."""
    if found.alpha is None:
        return None
    said: list[str | Segment] = [HOW_TO_READ]
    if found.low is not None and found.high is not None:
        ends = f"{two_decimals(found.low)} and {two_decimals(found.high)}"
        said.append(f"; with other items of this kind likely between {ends}")
    said.append(".")
    weakest = least_agreed(found)
    if weakest is not None:
        said += [" They agree least on “", strong(one_line(weakest.label)), "”."]
    return Sentence.of(*said)


def least_agreed(found: Everybody) -> LabelAgreement | None:
    """Return the label with the least agreement beyond chance; None for two labels or fewer, or for numbers.

    A number in the middle of a scale has less agreement only because it has neighbours on both sides.
    """
    if all(is_number(one.label) for one in found.labels):
        return None
    known = [one for one in found.labels if one.annotations >= FEWEST_ANSWERS and _beyond(one) is not None]
    return min(known, key=lambda one: _beyond(one) or 0.0) if len(known) > 2 else None


def in_one_line(result: RunResult) -> str:
    """All figures on everybody together in one line, with alpha by batch if no table shows it."""
    found = result.everybody
    if found is None or found.alpha is None:
        return ""
    alpha = f"{format_value(found.alpha)} {in_brackets(found.low, found.high)}".rstrip()
    parts = [f"Krippendorff’s alpha {alpha}"]
    if found.plurality is not None:
        parts.append(f"an item’s most frequent label has {_per_100(found.plurality)} of 100 answers")
    if found.unanimous is not None:
        parts.append(f"all agree on {_per_100(found.unanimous)} of 100 items")
    line = f"All {number(result.data.raters, 'rater')} together: {'; '.join(parts)}."
    if result.of_everybody or result.spec.analysis.slices or not found.batches:
        return line
    of = " · ".join(f"{one_line(one.value)} {format_value(one.alpha)}" for one in found.batches)
    return f"{line} Alpha by {one_line(found.batches[0].column)}: {of}."


def who_differs(found: Everybody) -> Sentence | None:
    """Name the raters who clearly agree less with the others; None if raters are not listed."""
    if not found.raters:
        return None
    clear = [one for one in found.raters if one.differs]
    if not clear or len(clear) == len(found.raters):
        return Sentence.of("Nobody agrees with the others clearly less than the others among themselves.")
    ours = _per_100(sum(one.again for one in clear) / len(clear))
    # Nobody is named: whose row it is shows once the ids are put in order.
    who, agrees = f"Rater {clear[0].number}", " in the order of ids agrees"
    if len(clear) > 1:
        who, agrees = number(len(clear), "rater"), " agree"
    # A rate of the others beside it would be of other items, too.
    less = f"{agrees} with the others clearly less than the others among themselves on the same items"
    return Sentence.of(strong(who), f"{less}: in {ours} of 100 cases. Careless, or another view?")


def over_batches(found: Everybody) -> tuple[Sentence, ...]:
    """Give the range of agreement over the values of each column of batches or topics."""
    said = []
    for column in dict.fromkeys(one.column for one in found.batches):
        known = [one for one in found.batches if one.column == column and one.alpha is not None]
        if len(known) < 2:
            continue
        low, high = (choose(known, key=lambda one: one.alpha or 0.0) for choose in (min, max))
        least, most = strong(one_line(low.value)), strong(one_line(high.value))
        between = f"By {one_line(column)} between {two_decimals(low.alpha)} ("
        said.append(Sentence.of(between, least, f") and {two_decimals(high.alpha)} (", most, ")."))
    return tuple(said)


def agreement_advice(found: Everybody) -> Sentence | None:
    """Advise how raters would agree more; None if they agree well, or alpha is unknown."""
    if found.alpha is None or found.alpha >= WELL:
        return None
    weakest = least_agreed(found)
    if weakest is None:
        return Sentence.of("Read the items on which they agree least, and say better what the labels mean.")
    again, by_chance = _per_100(weakest.again), _per_100(weakest.by_chance)
    return Sentence.of(
        f"Say better what “{one_line(weakest.label)}” means: where one rater says it, {again} of 100 others "
        f"do, by chance {by_chance}."
    )


def no_groups(result: RunResult) -> Sentence:
    """Say why there are no groups, and how to get some."""
    raters = result.data.raters
    few = ""
    if raters < FEW_RATERS:
        few = f"; {spelled(raters)} {agree(raters, 'rater is', 'raters are')} few for groups"
    return Sentence.of(
        "Nothing known of the raters was compared. Choose a column about them, on Analysis or by --axis, or "
        f"add a file with their age, gender or background{few}."
    )


def agreement_details(result: RunResult) -> tuple[Sentence, ...]:
    """All sentences below the title."""
    found = result.everybody
    if found is None:
        return ()
    line = in_one_line(result)
    groups = (no_groups(result),) if result.of_everybody else ()
    return (*agreement_sentences(found), *((Sentence.of(line),) if line else ()), *groups)


def agreement_sentences(found: Everybody) -> tuple[Sentence, ...]:
    """Sentences on alpha and its interval, raters who differ, agreement by batch, and advice."""
    said = (how_sure_agreement(found), who_differs(found), *over_batches(found), agreement_advice(found))
    return tuple(one for one in said if one is not None)


def agreement_tables(found: Everybody) -> Iterator[tuple[str, pd.DataFrame]]:
    """Tables with their headings: by label, by rater, and by batch; only those that have rows."""
    for of, heading, _, columns in TABLES:
        if rows := getattr(found, of):
            yield heading, texts(columns, rows)


def agreement_table(found: Everybody, of: str) -> pd.DataFrame:
    """One table of :func:`agreement_tables`: of "labels", "raters" or "batches"."""
    return next(texts(columns, getattr(found, of)) for name, _, _, columns in TABLES if name == of)


def _beyond(one: LabelAgreement) -> float | None:
    """Agreement on a label beyond chance: 0 is chance, 1 is perfect."""
    if one.again is None or one.by_chance is None or one.by_chance >= 1:
        return None
    return (one.again - one.by_chance) / (1 - one.by_chance)


def _per_100(share: float | None) -> str:
    return NOT_ESTIMABLE if share is None else f"{100 * share:.0f}"


_COUNT = "{:,}".format
TABLES: tuple[tuple[str, str, str, tuple[Column, ...]], ...] = (
    (
        "labels",
        "When one rater says it, another says so too",
        "By label",
        (
            Column("label", "Label", one_line, sheet="Label"),
            Column("annotations", "Answers", _COUNT, sheet="Answers", kind="count"),
            Column(
                *("again", "Another says so too (of 100)", _per_100),
                sheet="Another says so too",
                kind="value",
            ),
            Column("by_chance", "By chance (of 100)", _per_100, sheet="By chance", kind="value"),
            Column(
                "alone", "Given by one rater only (items)", _COUNT, "", "Items with one such answer", "count"
            ),
        ),
    ),
    (
        "raters",
        "Raters, numbered here, by how often they answer as another did",
        "By rater",
        (
            Column("number", "Rater", "Rater {}".format, sheet="Rater", kind="count"),
            Column("annotations", "Answers", _COUNT, sheet="Answers", kind="count"),
            Column("again", "As another did (of 100)", _per_100, sheet="As another did", kind="value"),
            Column(
                lambda one: "yes" if one.differs else "", "Clearly less than the others", sheet="Clearly less"
            ),
        ),
    ),
    (
        "batches",
        "Agreement by batch",
        "By batch",
        (
            Column("column", "Column", one_line, sheet="Column"),
            Column("value", "Value", one_line, sheet="Value"),
            Column("items", "Items", _COUNT, sheet="Items", kind="count"),
            Column("alpha", "Alpha", format_value, sheet="Alpha", kind="value"),
        ),
    ),
)
"""Tables of agreement: the field of the result, heading, sheet in a workbook, and columns."""
