"""The GRASP paper's Table 5 from the published DICES-350: ``python -m benchmarks.paper [--data FOLDER]``.

Each printed value is beside the one computed here, with arrow and stars. These come from plain NumPy: by the
definitions of `grasp_core.statistics` under the paper's conventions, without kernels.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from grasp_core.cli.fetch import PUBLISHED, fetch
from grasp_core.model.annotations import BoolArray, FloatArray, Int64Array
from grasp_core.model.errors import DataError
from grasp_core.model.spec import LEVEL
from grasp_core.permutation.testing.corrections import step_up
from grasp_core.permutation.testing.p_values import FEWEST, tails
from grasp_core.reading.formats.datasets import REMOVED_350
from grasp_core.statistics.cross_group import cross_negentropy, plurality_agreement, xrr
from grasp_core.statistics.in_group import irr, negentropy, plurality_size

STATISTICS = ("irr", "xrr", "negentropy", "cross_negentropy", "plurality_size", "voting_agreement", "gai")
TABLE_5 = """\
age|gen x+|0.166-|0.171-|0.402-|0.365-|0.693-|0.731-|0.975-
age|gen z|0.166-|0.172-|0.386-|0.392+|0.698+|0.776-|0.966-
age|millenial|0.189+|0.179+|0.415+|0.381+|0.703+|0.751-|1.052+
gender|Man|0.187+|0.175+|0.419+|0.394+|0.707+|0.800+|1.071+
gender|Woman|0.160-|0.175+|0.362-|0.404+|0.685-|0.800+|0.916-
race|Asian|0.145-|0.166-|0.368-|0.323-|0.675-|0.740-|0.872-
race|Black|0.193+|0.181+|0.411-|0.361-|0.705+|0.796+|1.063+
race|Latine|0.215+*|0.189+*|0.467+|0.412+|0.716+|0.747-|1.139+*
race|Multiracial|0.153-|0.168-|0.355-*|0.250-*|0.661-*|0.592-|0.916-
race|White|0.145-|0.159-*|0.498+*|0.417+*|0.744+*|0.552-**|0.908-
race, gender|Asian, Man|0.193+|0.188+|0.495+|0.417+|0.733+|0.722+|1.024+
race, gender|Asian, Woman|0.073-*|0.134-*|0.332-*|0.193-*|0.633-*|0.543-|0.540-*
race, gender|Black, Man|0.139-|0.167-|0.502-|0.371-|0.710-|0.604-|0.831-
race, gender|Black, Woman|0.213+*|0.188+|0.441+|0.349-|0.718+|0.749+|1.130+*
race, gender|Latine, Man|0.195+|0.183+|0.491+|0.383+|0.716+|0.687+|1.069+
race, gender|Latine, Woman|0.238+*|0.199+**|0.530+|0.437+|0.745+|0.704+|1.196+*
race, gender|Multiracial, Man|0.190+|0.182+|0.432-|0.273-|0.688-|0.562-|1.043+
race, gender|Multiracial, Woman|0.041-|0.131-|0.470-*|0.184-|0.674-|0.438-|0.312-
race, gender|White, Man|0.218+*|0.173-|0.724+**|0.505+**|0.835+**|0.446-*|1.262+**
race, gender|White, Woman|0.114-*|0.152-*|0.454+|0.381+|0.702-|0.663-|0.752-*
"""
"""Table 5 as Prabhakaran et al. (NAACL 2024) print it: axes and group, then a value of each statistic, its
arrow (+ up, - down), and its stars: one below 0.05, two after Benjamini-Hochberg's correction."""

NAMES = {
    "Asian": "Asian/Asian subcontinent",
    "Black": "Black/African American",
    "Latine": "LatinX, Latino, Hispanic or Spanish Origin",
}
"""Values of the published file for the table's short ones."""
_AXES = {axis: f"rater_{axis}" for axis in ("age", "gender", "race")}
_COLUMNS = ("item_id", "rater_id", "Q_overall", *_AXES.values())
_LABELS = ("No", "Unsure", "Yes")
"""Labels in alphabetical order, in which :func:`plurality` needs the rows."""
_PLACE, _PLACES = 16, 2**16 - 1
"""Bits below a count for a row's place, and a number with all of them set."""


class Data(NamedTuple):
    """Labels as 0 and 1, int64 (K, I, J), and each group's raters, bool (G, J), in the table's order."""

    given: Int64Array
    member: BoolArray


class Cell(NamedTuple):
    """A value with its arrow and stars; `p` and `q` are not printed in the paper."""

    value: str
    arrow: str
    stars: str
    p: float = np.nan
    q: float = np.nan

    def __str__(self) -> str:
        return f"{self.value}{self.arrow}{self.stars}"


Table = Mapping[tuple[str, str], Cell]
"""Cells by group and statistic."""


def printed() -> Table:
    """Return the table of the paper."""
    table = {}
    for line in TABLE_5.splitlines():
        _, group, *cells = line.split("|")
        for name, cell in zip(STATISTICS, cells, strict=True):
            table[group, name] = Cell(cell[:5], {"+": "↑", "-": "↓"}[cell[5]], cell[6:])
    return table


def read(folder: Path) -> Data:
    """Read the data of the 104 raters whom the authors kept, from the folder's file with these columns."""
    rows = _rows(folder)
    items, raters = ({row[name]: None for row in rows} for name in ("item_id", "rater_id"))
    item, rater = ({one: place for place, one in enumerate(sorted(ids, key=int))} for ids in (items, raters))
    given = np.zeros((len(_LABELS), len(item), len(rater)), dtype=np.int64)
    profiles: dict[str, dict[str, str]] = {}
    for row in rows:
        given[_LABELS.index(row["Q_overall"]), item[row["item_id"]], rater[row["rater_id"]]] += 1
        profiles[row["rater_id"]] = row
    member = np.zeros((len(TABLE_5.splitlines()), len(rater)), dtype=np.bool_)
    for g, line in enumerate(TABLE_5.splitlines()):
        axes, group = (field.split(", ") for field in line.split("|")[:2])
        wanted = {_AXES[axis]: NAMES.get(value, value) for axis, value in zip(axes, group, strict=True)}
        for one, place in rater.items():
            member[g, place] = all(profiles[one][column] == value for column, value in wanted.items())
    return Data(given, member)


def _rows(folder: Path) -> list[dict[str, str]]:
    for path in sorted(folder.glob("*.csv")):
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            if set(_COLUMNS) <= set(rows.fieldnames or ()):
                return [row for row in rows if row["rater_id"] not in REMOVED_350]
    raise DataError(
        f"{folder} holds no CSV file with the columns {', '.join(_COLUMNS)}; name the folder of the "
        "published DICES-350, or leave it out and the file is fetched"
    )


def statistics(data: Data, source: Int64Array) -> FloatArray:
    """Return the seven statistics of every group, shape (G, 7); rater j has the profile of ``source[j]``."""
    everybody = data.given.sum(axis=2).T
    counts = data.given @ data.member[:, source].T  # of each label, item and group
    values = np.empty((len(data.member), len(STATISTICS)))
    for g in range(len(values)):
        c = counts[:, :, g].T
        d = everybody - c
        inside, across = irr(c), xrr(c, d)
        values[g] = (
            *(inside, across, negentropy(c), cross_negentropy(c, d, "paper"), plurality_size(c)),
            *(plurality_agreement(plurality(c), plurality(d), len(_LABELS), "kappa"), inside / across),
        )
    return values


def plurality(c: Int64Array) -> Int64Array:
    """Return the most frequent label of each item, shape (I,), from counts (I, K), with ties as in the paper.

    The table's values follow from each item's first row, after pandas has sorted all rows (item, label) by
    their counts, in descending order: it reverses the rows, sorts them ascending, and reverses the result.
    NumPy's sort was not stable then, so its order of equal counts decided ties.
    """
    item, label = c.nonzero()  # labels that nobody gave have no row
    order = [len(item) - 1 - place for place in reversed(unstable_order(c[item, label][::-1].tolist()))]
    found = np.empty(len(c), dtype=np.int64)
    found[item[order[::-1]]] = label[order[::-1]]  # an item's first row is written last
    return found


def unstable_order(counts: Sequence[int]) -> list[int]:
    """Return ``np.argsort(counts)`` as NumPy computed it before version 1.25, which brought another sort.

    An introsort: Hoare's partition around the median of three, and stable insertion in parts of at most 16
    (github.com/numpy/numpy/blob/v1.23.5/numpy/core/src/npysort/quicksort.cpp, ``aquicksort_``). Counts
    have their places in the bits below, so that a comparison can ignore these.
    """
    rows = [count << _PLACE | place for place, count in enumerate(counts)]
    parts = [(0, len(rows) - 1, 2 * (len(rows).bit_length() - 1))]
    while parts:
        low, high, depth = parts.pop()
        if high - low <= 15:
            rows[low : high + 1] = sorted(rows[low : high + 1], key=lambda row: row >> _PLACE)
            continue
        if depth < 0:
            raise NotImplementedError("NumPy goes on by a heapsort, which DICES-350 never needs")
        middle = low + (high - low) // 2
        for one, other in ((middle, low), (high, middle), (middle, low)):
            if rows[one] >> _PLACE < rows[other] >> _PLACE:
                rows[one], rows[other] = rows[other], rows[one]
        least, most = rows[middle] & ~_PLACES, rows[middle] | _PLACES  # of all rows with the pivot's count
        up, down = low + 1, high - 2
        rows[middle], rows[high - 1] = rows[high - 1], rows[middle]
        while True:
            while rows[up] < least:
                up += 1
            while rows[down] > most:
                down -= 1
            if up >= down:
                break
            rows[up], rows[down] = rows[down], rows[up]
            up, down = up + 1, down - 1
        rows[up], rows[high - 1] = rows[high - 1], rows[up]
        parts += [(low, up - 1, depth - 1), (up + 1, high, depth - 1)]
    return [row & _PLACES for row in rows]


def computed(data: Data, permutations: int, seed: int) -> Table:
    """Compute the table from the data; profiles are shuffled over all raters, at least 100 times."""
    rng, n_raters = np.random.default_rng(seed), data.member.shape[1]
    observed = statistics(data, np.arange(n_raters))
    null = np.array([statistics(data, rng.permutation(n_raters)) for _ in range(permutations)])
    table = {}
    groups = [line.split("|")[1] for line in TABLE_5.splitlines()]
    for s, name in enumerate(STATISTICS):
        found = [tails(value, null[:, g, s]) for g, value in enumerate(observed[:, s])]
        p = [one.p("paper") for one in found]
        for g, q in enumerate(step_up(p, "benjamini-hochberg")):
            stars = "*" * ((p[g] < LEVEL) + (q < LEVEL))
            arrow = "↓" if found[g].below else "↑"
            table[groups[g], name] = Cell(f"{observed[g, s]:.3f}", arrow, stars, p[g], q)
    return table


def agreement(paper: Table, ours: Table) -> list[str]:
    """Return how many values, arrows and stars are as printed, by statistic and in all."""
    lines = []
    for names in (*((name,) for name in STATISTICS), STATISTICS):
        pairs = [(cell, ours[key]) for key, cell in paper.items() if key[1] in names]
        same = [sum(one[part] == other[part] for one, other in pairs) for part in range(3)]
        what = names[0] if len(names) == 1 else "all"
        lines.append(f"{what:17}{len(pairs):4} cells: {same[0]} values, {same[1]} arrows, {same[2]} stars")
    return lines


def _print(paper: Table, ours: Table) -> None:
    print("Each cell: printed, then computed.\n")
    print(f"{'':20}" + "".join(f"{name:19}" for name in STATISTICS))
    for group in dict.fromkeys(group for group, _ in paper):
        cells = [(str(paper[group, name]), str(ours[group, name])) for name in STATISTICS]
        print(f"{group:20}" + "".join(f"{f'{one} {other}':19}" for one, other in cells))
    print("\n" + "\n".join(agreement(paper, ours)))
    for (group, name), cell in paper.items():
        here = ours[group, name]
        if cell[:3] != here[:3]:
            chance = f"p {here.p:.4f}, q {here.q:.4f}"
            print(f"differs: {group}, {name}: printed {cell}, computed {here}, {chance}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.paper", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="of DICES-350 (default: it is fetched)")
    parser.add_argument("--permutations", type=int, default=1_000, metavar="B")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    if chosen.permutations < FEWEST:
        parser.error(f"--permutations: at least {FEWEST}; with fewer there is no p-value")
    try:
        folder = chosen.data or fetch(PUBLISHED["dices-350"], Path("build")).parent
        ours = computed(read(folder), chosen.permutations, chosen.seed)
    except DataError as error:
        sys.exit(str(error))
    _print(printed(), ours)


if __name__ == "__main__":
    main()
