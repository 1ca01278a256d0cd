"""A plan in sentences and tables, and as CSV."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from grasp_core.analysis.planner import sample_size
from grasp_core.analysis.planner.values import LINES, Plan, PlanSpec, Target
from grasp_core.model.groups import Group, group_label
from grasp_core.model.result import RunResult
from grasp_core.model.text import Sentence, number, strong
from grasp_core.report.findings.finding import LABEL_USE
from grasp_core.report.findings.selection import by_verdict
from grasp_core.report.tables import Column, csv_of
from grasp_core.report.words.names import MINUS, TEXTS

TARGETS: dict[Target, str] = {
    "labels": "label use",
    "distance": "distance",
    "gap": "gap (IRR − XRR)",
    "gai": "GAI (IRR / XRR)",
    "dsi": "DSI of the axis",
}
EXPLANATION: str = TEXTS["explained"]["plan"]


def found_target(result: RunResult, group: Group) -> Target:
    """The difference that the result tells of a group; label use if it tells none that can be planned for."""
    for one in by_verdict(result):
        if group in one.groups:
            less_united = one.less_united is not None and "gai" in one.row.statistics
            what = "gai" if less_united and one.what != LABEL_USE else one.what
            return next((target for target in TARGETS if target == what), "labels")
    return "labels"


def named(plan: Plan) -> str:
    """Name of the group that is planned for."""
    return "the group" if plan.group is None else group_label(plan.group)


def sentences(plan: Plan) -> list[Sentence]:
    """The sentences of :func:`answer` and :func:`details`."""
    return [*answer(plan), *details(plan)]


def answer(plan: Plan) -> list[Sentence]:
    """Sentences on the design that is needed, how sure that is, and warnings."""
    warned = (Sentence.of(f"{text[0].upper()}{text[1:]}.") for text in map(str, plan.warnings))
    so_far = () if plan.whole else (Sentence.of("Rough so far: most of the data sets are still simulated."),)
    return [*so_far, _answer(plan), *_enough(plan), *_range(plan), *warned]


def _answer(plan: Plan) -> Sentence:
    spec, choice = plan.spec, sample_size.cheapest(plan)
    sure = strong if plan.whole else str  # the first designs may say something else than all of them
    if choice is None:
        best = float(_chances(plan, (spec.raters[1],), (spec.items[1],))[0, 0])
        return Sentence.of(
            sure("No design of this range is enough"),
            f": with {_design(spec, spec.raters[1], spec.items[1])} the chance is {best:.0%}, not "
            f"{spec.goal:.0%}. Widen the range, or look for a larger difference.",
        )
    rows = sample_size.recruitment(plan, choice.raters, choice.items)
    whose = "of the group" if plan.group is None else named(plan)
    chosen = next(row for row, have in zip(rows, plan.have, strict=True) if have.chosen)
    return Sentence.of(
        sure(_design(spec, choice.raters, choice.items)),
        f", {number(chosen.needed, 'rater')} of them {whose}, find the difference with a chance of "
        f"{spec.goal:.0%}: the cheapest such design{' of the range' if _at_an_end(spec, choice) else ''}, "
        f"{number(choice.annotations, 'annotation')}, cost {_cost(choice.cost)}.{_at_an_end(spec, choice)}",
    )


def _enough(plan: Plan) -> list[Sentence]:
    """Say that the pilot has enough raters; empty if more must be recruited."""
    choice = None if plan.pilot is None else sample_size.cheapest(plan)
    if choice is None or any(
        row.recruit for row in sample_size.recruitment(plan, choice.raters, choice.items)
    ):
        return []
    return [Sentence.of("Nobody has to be recruited for that: the pilot has raters enough.")]


def _at_an_end(spec: PlanSpec, choice: sample_size.PricedDesign) -> str:
    """Say that a cheaper design may lie beyond the range; empty if the design is not at an end."""
    ends = [
        number(chosen, noun)
        for chosen, of, noun in ((choice.raters, spec.raters, "rater"), (choice.items, spec.items, "item"))
        if chosen in of
    ]
    if not ends:
        return ""
    return f" It lies at an end of the range, {' and '.join(ends)}: a wider one may hold a cheaper design."


def _design(spec: PlanSpec, raters: int, items: int) -> str:
    each = "" if spec.each is None else f", {spec.each:,} labels an item"
    return f"{number(raters, 'rater')} and {number(items, 'item')}{each}"


def _range(plan: Plan) -> list[Sentence]:
    """Sentence on the designs needed if the pilot overstates or understates the difference."""
    if plan.pilot is None:
        why = "The figures are assumed, so there is no range: plan again from a pilot of a few dozen items."
        return [Sentence.of(why)]
    if plan.factors is None:
        return []
    low, high = (sample_size.cheapest(plan, factor) for factor in plan.factors)
    ends = dict.fromkeys(
        "more than this range has" if one is None else _design(plan.spec, one.raters, one.items)
        for one in (high, low)
    )
    return [
        Sentence.of(
            "A pilot of this size is not certain: in 8 of 10 such pilots the answer ",
            f"{'is' if len(ends) == 1 else 'lies between'} {' and '.join(ends)}.",
        )
    ]


def details(plan: Plan) -> list[Sentence]:
    """Sentences on the difference that is looked for, and on how the answer was computed."""
    sizes, spec = plan.sizes, plan.spec
    whence = "as in the model that was fitted to the pilot" if spec.size is None else "as chosen"
    gai = "none" if sizes.gai is None else f"{sizes.gai:.2f}"
    gap = f"{round(sizes.gap, 3) + 0.0:+.3f}".replace("-", MINUS)
    often = f"{abs(sizes.points):.1f} points {'more' if sizes.points >= 0 else 'less'} often"
    pilot = "Made of assumed figures, without data."
    if plan.pilot is not None:
        raters, items, annotations = plan.pilot
        pilot = (
            f"The pilot has {number(raters, 'rater')}, {number(items, 'item')} and "
            f"{number(annotations, 'annotation')}."
        )
    beyond = spec.annotations(spec.raters[1], spec.items[1]) > sample_size.MOST_SIMULATED
    more = (
        f" Designs beyond {sample_size.MOST_SIMULATED:,} annotations are told by that curve alone."
        if beyond
        else ""
    )
    return [
        Sentence.of(
            f"Looked for: a difference in {TARGETS[spec.target]} {whence}. With any number of raters and "
            f"items {named(plan)} would give “{sizes.label}” {often}, at a distance "
            f"of {sizes.distance:.3f}, a gap of {gap} and a GAI of {gai}; the others agree with "
            f"an IRR of {sizes.agreement:.2f}."
        ),
        Sentence.of(pilot),
        Sentence.of(
            f"{number(sum(cell.sets for cell in plan.cells), 'data set')} of "
            f"{number(len(plan.cells), 'design')} were simulated; the smooth curve through them misses by "
            f"{100 * plan.fit.miss:.1f} points on average.{more}"
        ),
    ]


def surface_table(plan: Plan) -> pd.DataFrame:
    """The chance of every design of the grid, a row per number of items and a column per number of raters."""
    raters, items = sample_size.steps(plan.spec.raters), sample_size.steps(plan.spec.items)
    found = _chances(plan, raters, items)
    columns = {
        f"{j:,} raters": [f"{share:.0%}" for share in found[:, place]] for place, j in enumerate(raters)
    }
    return pd.DataFrame({"Items": [f"{i:,}" for i in items], **columns})


def lines_table(plan: Plan) -> pd.DataFrame:
    """Items needed for each number of raters and each chance, with the range for the goal's chance."""
    spec = plan.spec
    rows = []
    for raters in sample_size.steps(spec.raters):
        row = {"Raters": f"{raters:,}"}
        row |= {f"Items for {line:.0%}": _items(plan, line, raters) for line in sorted({*LINES, spec.goal})}
        if plan.factors is not None:
            low, high = (_items(plan, spec.goal, raters, factor) for factor in reversed(plan.factors))
            row[f"Range of {spec.goal:.0%}"] = f"{low} to {high}"
        rows.append(row)
    return pd.DataFrame(rows)


def lines_numbers(plan: Plan) -> pd.DataFrame:
    """:func:`lines_table` for programs: a row per number of raters and chance; items are NaN out of range."""
    spec = plan.spec
    least, most = spec.items
    rows = []
    for raters in sample_size.steps(spec.raters):
        for line in sorted({*LINES, spec.goal}):
            needed = sample_size.items_needed(plan.fit, spec, line, raters)
            within = least <= needed <= most
            why = None if within else f"over {most}" if needed > most else f"under {least}"
            rows.append((raters, line, float(np.ceil(needed)) if within else np.nan, why))
    return pd.DataFrame(rows, columns=["raters", "chance", "items", "reason"])


def _items(plan: Plan, line: float, raters: int, factor: float = 1.0) -> str:
    needed = sample_size.items_needed(plan.fit, plan.spec, line, raters, factor)
    low, high = plan.spec.items
    if needed > high:
        return f"over {high:,}"
    return f"under {low:,}" if needed < low else f"{int(np.ceil(needed)):,}"


def _chances(plan: Plan, raters: Sequence[int], items: Sequence[int]) -> np.ndarray:
    j, i = np.meshgrid(np.array(raters, float), np.array(items, float))
    annotations = i * (j if plan.spec.each is None else plan.spec.each)
    return sample_size.chance(plan.fit, j, annotations)


def recruitment_rows(plan: Plan) -> list[sample_size.Needed]:
    """Raters of each group that the cheapest design needs; empty if there is no such design."""
    choice = sample_size.cheapest(plan)
    return [] if choice is None else sample_size.recruitment(plan, choice.raters, choice.items)


def recruitment_csv(plan: Plan) -> str:
    """:func:`recruitment_rows` as CSV."""
    return csv_of(RECRUITMENT, recruitment_rows(plan))


def _cost(cost: float) -> str:
    return f"{cost:,.0f}" if float(cost).is_integer() else f"{cost:,.2f}"


_COUNT = "{:,}".format
RECRUITMENT = (
    Column("group", "Group", None, "group", "Group"),
    Column("have", "Have", _COUNT, "have", "Have", "count"),
    Column("needed", "Needed", _COUNT, "needed", "Needed", "count"),
    Column("recruit", "To recruit", _COUNT, "recruit", "To recruit", "count"),
    Column("annotations", "Annotations", _COUNT, "annotations", "Annotations", "count"),
    Column("cost", "Cost", _cost, "cost", "Cost", "value"),
)
"""Columns of the raters that a design needs."""
