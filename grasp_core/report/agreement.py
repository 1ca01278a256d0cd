"""Agreement of all raters by every coefficient, and rater by rater, as frames."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from grasp_core.analysis.everybody import FEWEST_ITEMS, MOST_CELLS, again_by_rater, differing
from grasp_core.model.annotations import Annotations, BoolArray, Int64Array, number_of
from grasp_core.model.result import Everybody
from grasp_core.model.spec import Level
from grasp_core.model.text import printable_name
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.screens.constant import too_constant
from grasp_core.reading.screens.duplicates import near_duplicates
from grasp_core.reading.screens.random_responders import random_responders
from grasp_core.report.tables import or_nan
from grasp_core.report.words.names import NOT_ESTIMABLE, format_value, in_brackets
from grasp_core.statistics import coefficients
from grasp_core.statistics.in_group import irr
from grasp_core.statistics.items import NotEstimableError, count
from grasp_core.statistics.levels import distance_of

MOST_PAIRED = 50
"""Largest number of raters for which Cohen's kappa is computed for every pair."""
_MEASURES: dict[str, tuple[Callable[[Int64Array], float], Callable[[Int64Array], float], float]] = {
    "percent agreement": (coefficients.percent_agreement, coefficients.percent_agreement_error, 0.0),
    "Fleiss' kappa": (coefficients.fleiss_kappa, coefficients.fleiss_kappa_error, -1.0),
    "Gwet's AC1": (coefficients.gwet_ac1, coefficients.gwet_ac1_error, -1.0),
}
"""Each coefficient with its standard error and its least value, if all items have several labels."""


def coefficients_frame(
    dataset: Dataset, found: Everybody, questions: Sequence[str], level: Level = "nominal"
) -> pd.DataFrame:
    """Krippendorff's alpha and other coefficients, for all items and for each batch."""
    rows: list[dict[str, Any]] = []
    everywhere = np.ones(dataset.annotations.n_items, dtype=np.bool_)
    names = questions if len(questions) > 1 else ("",)
    for name, one in zip(names, dataset.questions, strict=True):
        whole = count(one, np.ones(one.n_raters, dtype=np.bool_))
        given = _by_rater(one)
        for column, batch, here in [("", "", everywhere), *_batches(dataset)]:
            c = whole[here]
            alpha = partial(irr, c, distance_of(one.categories, level))
            known = (found.low, found.high) if not column and len(names) == 1 else (None, None)
            several, rated = (int((c.sum(axis=1) >= least).sum()) for least in (2, 1))
            measured = [_row("Krippendorff's alpha", several, alpha, known=known)]
            for measure, (value, error, least) in _MEASURES.items():
                measured.append(_row(measure, several, partial(value, c), partial(error, c), rated, least))
            measured += [] if given is None else [_cohen(given[:, here])]
            rows += [{"question": name, "column": column, "batch": batch, **row} for row in measured]
    return pd.DataFrame(rows)


def coefficients_table(frame: pd.DataFrame) -> pd.DataFrame:
    """The coefficients for all items, as texts for people."""
    shown = frame[frame["column"] == ""]
    table = pd.DataFrame(
        {
            "Question": shown["question"],
            "Coefficient": shown["coefficient"],
            "Value": shown["value"].map(_decimals),
            "95 % interval": [
                "" if np.isnan(low) else in_brackets(low, high)
                for low, high in zip(shown["low"], shown["high"], strict=True)
            ],
            "Items": shown["items"].map("{:,}".format),
        }
    )
    return table if shown["question"].any() else table.drop(columns="Question")


def batches_table(frame: pd.DataFrame) -> pd.DataFrame:
    """A row per batch, a column per coefficient, as texts for people; empty without batches."""
    shown = frame[frame["column"] != ""]
    if shown.empty:
        return pd.DataFrame()
    keys = [*(["question"] if shown["question"].any() else []), "column", "batch", "items"]
    rows = [
        dict(zip(map(str.capitalize, keys), map(str, named), strict=True))
        | dict(zip(rows["coefficient"], map(_decimals, rows["value"]), strict=True))
        for named, rows in shown.groupby(keys, sort=False)
    ]
    return pd.DataFrame(rows).fillna(NOT_ESTIMABLE)


def raters_frame(dataset: Dataset, gold: Int64Array | None = None) -> pd.DataFrame:
    """A row per rater; raters who deserve a look come first."""
    first, n = dataset.annotations, dataset.annotations.n_raters
    everybody = np.ones(n, dtype=np.bool_)
    counts = [count(one, everybody) for one in dataset.questions]
    again, compared = again_by_rater(dataset.questions, counts)
    differs = differing(dataset.questions, counts)
    chance, constant = random_responders(first), too_constant(first, dataset.raters)
    copies: list[list[str]] = [[] for _ in range(n)]
    for pair in near_duplicates(first).pairs:
        copies[pair.first].append(first.rater_ids[pair.second])
        copies[pair.second].append(first.rater_ids[pair.first])
    counted = {"answers": dataset.annotations_of, "compared": compared, "as_others": again}
    frame = pd.DataFrame({"rater": list(first.rater_ids), **counted})
    if gold is not None:
        known = gold[first.item] >= 0
        asked = np.bincount(first.rater[known], minlength=n)
        right = np.bincount(first.rater[known], first.category[known] == gold[first.item[known]], minlength=n)
        frame["gold_items"] = asked
        frame["as_gold"] = right / np.where(asked, asked, np.nan)
    frame["differs"] = _flags(differs, compared >= FEWEST_ITEMS)
    frame["at_chance"] = _flags(chance.random, chance.looked_at)
    frame["constant"] = _flags(constant.named, constant.looked_at)
    frame["copies"] = copies
    flagged = differs | chance.random | constant.named | np.array([bool(one) for one in copies])
    order = np.lexsort((np.arange(n), np.where(np.isnan(again), np.inf, again), ~flagged))
    return frame.iloc[order].reset_index(drop=True)


def raters_table(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of :func:`raters_frame` as texts for people."""
    table = {
        "Rater": frame["rater"].map(printable_name),
        "Answers": frame["answers"].map("{:,}".format),
        "As others (of 100)": frame["as_others"].map(_of_100),
    }
    if "as_gold" in frame:
        table["As gold (of 100)"] = frame["as_gold"].map(_of_100)
        table["Gold items"] = frame["gold_items"].map("{:,}".format)
    for name, head in (
        ("differs", "Clearly less than the others"),
        ("at_chance", "At chance"),
        ("constant", "One label always"),
    ):
        table[head] = frame[name].map({True: "yes", False: "", None: "?"})
    table["Agrees too closely with"] = frame["copies"].map(
        lambda ids: (
            ", ".join(map(printable_name, ids[:3])) + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")
        )
    )
    return pd.DataFrame(table)


def _flags(named: BoolArray, looked_at: BoolArray) -> list[bool | None]:
    return [bool(one) if seen else None for one, seen in zip(named, looked_at | named, strict=True)]


def _batches(dataset: Dataset) -> Iterator[tuple[str, str, BoolArray]]:
    for column, attribute in (dataset.attributes or dataset.batches).items():
        numbers = [number_of(value) for value in attribute.values]
        keys = attribute.values if np.isnan(numbers).any() else numbers
        for code in sorted(range(len(keys)), key=keys.__getitem__):
            yield column, attribute.values[code], attribute.codes == code


def _row(
    name: str,
    items: int,
    value: Callable[[], float],
    error: Callable[[], float] | None = None,
    rated: int = 0,
    least: float = -1.0,
    known: tuple[float | None, float | None] = (None, None),
) -> dict[str, Any]:
    """A coefficient with its interval for other items: a known one, or Student's t, from `least` to 1."""
    row = {"coefficient": name, "value": np.nan, "low": np.nan, "high": np.nan, "items": items, "why": ""}
    try:
        found = value()
        if error is not None:
            around = float(special.stdtrit(max(rated - 1, 1), 0.975)) * error()
            known = max(found - around, min(found, least)), min(found + around, 1.0)
        return row | {"value": found, "low": or_nan(known[0]), "high": or_nan(known[1])}
    except NotEstimableError as missing:
        return row | {"why": str(missing)}


def _by_rater(one: Annotations) -> Int64Array | None:
    """Categories, shape (raters, items), -1 if missing; None for one rater or for too many to pair."""
    if not 2 <= one.n_raters <= MOST_PAIRED or one.n_raters * one.n_items > MOST_CELLS:
        return None
    given = np.full((one.n_raters, one.n_items), -1, dtype=np.int64)
    given[one.rater, one.item] = one.category
    return given


def _cohen(given: Int64Array) -> dict[str, Any]:
    """Cohen's kappa of two raters, or its mean over all pairs of raters (Light's kappa)."""
    pairs = list(combinations(range(len(given)), 2))
    if len(pairs) == 1:
        first, second = given
        both = int(((first >= 0) & (second >= 0)).sum())
        value = partial(coefficients.cohen_kappa, first, second)
        error = partial(coefficients.cohen_kappa_error, first, second)
        return _row("Cohen's kappa", both, value, error, both)
    known = [kappa for a, b in pairs if (kappa := _kappa(given[a], given[b])) is not None]

    def mean() -> float:
        if not known:
            return coefficients.cohen_kappa(given[0, :0], given[1, :0])  # raises an error with the reason
        return float(np.mean(known))

    items = int(((given >= 0).sum(axis=0) >= 2).sum())
    return _row("Cohen's kappa, mean of pairs", items, mean)


def _kappa(first: Int64Array, second: Int64Array) -> float | None:
    try:
        return coefficients.cohen_kappa(first, second)
    except NotEstimableError:
        return None


def _decimals(value: float) -> str:
    return format_value(None if np.isnan(value) else value)


def _of_100(share: float) -> str:
    return NOT_ESTIMABLE if np.isnan(share) else f"{100 * share:.0f}"
