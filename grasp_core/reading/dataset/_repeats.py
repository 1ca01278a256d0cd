"""Raters who answer an item more than once: refused, or one answer is chosen; equal answers count once."""

from __future__ import annotations

import numpy as np

from grasp_core.model.annotations import BoolArray, Codes, sorted_keys, tallied
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError, Problem, know, stop
from grasp_core.model.remarks.cautions import LeftOutReason
from grasp_core.model.remarks.problems import DataProblem
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.text import EXAMPLES, quoted
from grasp_core.reading.dataset._times import ranks
from grasp_core.reading.dataset.votes import Votes
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import parts_of

_MANY, _OFTEN = 5, 0.1
"""Pairs of a rater and an item with several labels, and their share, from which rows are choices of one."""


def chosen(votes: Votes, spec: DataSpec) -> BoolArray:
    """Entries to keep where a rater gives an item several labels: the first or the last, as the spec says."""
    keep = np.ones(votes.size, dtype=np.bool_)
    order, again = _in_runs(votes)
    if not again.any():
        return keep
    # Pairs with several labels; `run` and `again` are in the order of runs.
    label, run = votes.label[order], np.cumsum(~again, dtype=np.int64) - 1
    start = np.maximum.accumulate(np.where(again, 0, np.arange(label.size)))
    several = np.zeros(run[-1] + 1, dtype=np.bool_)
    several[run[label != label[start]]] = True
    entries = order[several[run]]
    if entries.size:
        rank = np.arange(entries.size) if spec.order is None else _by_time(votes, entries, spec)
        keep[entries] = _chosen(votes, entries, run[several[run]], rank, spec)
    return keep


def others(spec: DataSpec) -> Remark:
    """The answers that are left out where one is chosen."""
    which = "later" if spec.repeated == "first" else "earlier"
    if spec.order is None:
        return LeftOutReason.ANSWERED_AGAIN(which=which)
    return LeftOutReason.ANSWERED_AGAIN_BY_TIME(which=which, column=spec.order)


def once(votes: Votes, spec: DataSpec) -> tuple[Votes, list[Problem]]:
    """Keep an annotation given twice once; two different labels of one rater for one item stop."""
    order, again = _in_runs(votes)
    if not order.size:
        return votes, []
    # The position, in `order`, of the first annotation of each run of equal keys.
    start = np.maximum.accumulate(np.where(again, 0, np.arange(order.size)))
    label = votes.label[order]
    differs = again & (label != label[start])
    equal = order[again & ~differs]
    problems: list[Problem] = []
    if differs.any():
        problems.append(_contradiction(votes, spec, order[start[differs]], order[differs]))
    if equal.size:
        rows = [votes.table.row(votes.row[entry]) for entry in np.sort(equal)[:EXAMPLES]]
        remark = DataProblem.REPEATED(annotations=equal.size, file=votes.table.name, row=rows[0])
        problems.append(know(remark, equal.size, [f"row {row}" for row in rows]))
    keep = np.ones(votes.size, dtype=np.bool_)
    keep[order[again]] = False
    return votes.keep(keep), problems


def _in_runs(votes: Votes) -> tuple[Codes, BoolArray]:
    """Entries whose pair is there again, by item and rater, in file order within; which follow on theirs."""
    n_raters = len(votes.rater_ids)
    per_item = tallied(votes.item, len(votes.item_ids))
    repeated = [np.empty(0, np.int64)]  # numbers of the pairs that occur more than once, ascending
    for first, same in sorted_keys(votes.pieces, per_item, (n_raters,)):
        repeated.append(first * n_raters + np.unique(same[1:][same[1:] == same[:-1]]))
    pairs = np.concatenate(repeated)
    found, keys, at = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
    for item, rater, _ in votes.pieces() if pairs.size else ():
        counts = item >= 0
        key = item[counts].astype(np.int64) * n_raters + rater[counts]
        here = np.flatnonzero(pairs[np.searchsorted(pairs[:-1], key)] == key)
        found.append(at + here)
        keys.append(key[here])
        at += key.size
    entries, of_entries = np.concatenate(found), np.concatenate(keys)
    order = np.argsort(of_entries, kind="stable")
    again = np.zeros(order.size, dtype=np.bool_)
    again[1:] = np.diff(of_entries[order]) == 0
    return entries[order], again


def _by_time(votes: Votes, entries: Codes, spec: DataSpec) -> Codes:
    """Rank of each entry's time."""
    name = str(spec.order)
    column = votes.table.column(name)
    where = f"{votes.table.name}, column {quoted(name)}"
    codes = column.codes[votes.row[entries]]
    used = np.unique(codes)
    without = [
        code for code in used if column.values[code] in spec.missing or not column.values[code].strip()
    ]
    if without:
        entry = int(entries[np.isin(codes, without)][0])
        item, rater = _pair(votes, entry)
        row = votes.table.row(votes.row[entry])
        raise DataError(
            DataProblem.TIME_MISSING(file=votes.table.name, row=row, column=name, item=item, rater=rater)
        )
    rank = ranks(where, [column.values[code] for code in used], column.values)
    by_code = np.zeros(len(column.values), dtype=np.int64)
    by_code[used] = [rank[column.values[code]] for code in used]
    found: Codes = by_code[codes]
    return found


def _chosen(votes: Votes, entries: Codes, runs: Codes, rank: Codes, spec: DataSpec) -> BoolArray:
    """Which of the contested entries count: one of each run."""
    order = np.lexsort((np.arange(entries.size), rank if spec.repeated == "first" else -rank, runs))
    heads = np.ones(entries.size, dtype=np.bool_)
    heads[1:] = runs[order][1:] != runs[order][:-1]
    head = order[np.maximum.accumulate(np.where(heads, np.arange(entries.size), 0))]
    label = votes.label[entries]
    tied = (rank[order] == rank[head]) & (label[order] != label[head])
    if tied.any():
        one, other = (int(entries[positions[tied][0]]) for positions in (head, order))
        first, second = sorted(votes.table.row(votes.row[entry]) for entry in (one, other))
        item, rater = _pair(votes, one)
        remark = DataProblem.SAME_TIME(
            file=votes.table.name,
            first=first,
            second=second,
            column=str(spec.order),
            item=item,
            rater=rater,
            which=spec.repeated,
        )
        raise DataError(remark)
    kept = np.zeros(entries.size, dtype=np.bool_)
    kept[order[heads]] = True
    return kept


def _pair(votes: Votes, entry: int) -> tuple[str, str]:
    return votes.item_ids[votes.item[entry]], votes.rater_ids[votes.rater[entry]]


def _telling_apart(votes: Votes, spec: DataSpec, earlier: Codes, later: Codes) -> str | None:
    """A column of recurring values that differs wherever one rater's labels of an item do."""
    if spec.layout != "long":
        return None
    table, both = votes.table, votes.row[np.concatenate([earlier, later])]
    taken = {name for one in (spec.item, spec.rater) for name in (one, *parts_of(str(one), table.columns))}
    for name in table.columns:
        if name in {*taken, *spec.labels} or names.mentions(name, names.META - names.PHASES):
            continue
        codes = table.column(name).codes[both]
        if 2 * np.unique(codes).size <= codes.size and (codes[: later.size] != codes[later.size :]).all():
            return name
    return None


def _contradiction(votes: Votes, spec: DataSpec, earlier: Codes, later: Codes) -> Problem:
    def shown(position: int) -> str:
        before, after = int(earlier[position]), int(later[position])
        rater, item = votes.rater_ids[votes.rater[after]], votes.item_ids[votes.item[after]]
        first, second = (
            f"{quoted(votes.labels[votes.label[entry]])} in row {votes.table.row(votes.row[entry])}"
            for entry in (before, after)
        )
        return f"rater {quoted(rater)} gives item {quoted(item)} the labels {first} and {second}"

    by_row = np.argsort(later)
    example = shown(by_row[0])
    pairs = np.unique(earlier).size
    many = pairs >= max(_MANY, _OFTEN * (votes.size - later.size))
    column = _telling_apart(votes, spec, earlier, later)
    if column is not None:
        told = DataProblem.ANSWERED_TWICE_BUT_FOR(
            file=votes.table.name,
            example=example,
            more=later.size - 1,
            column=column,
            item=str(spec.item),
            rater=str(spec.rater),
        )
    else:
        code = DataProblem.MANY_ANSWERED_TWICE if many else DataProblem.ANSWERED_TWICE
        told = code(file=votes.table.name, example=example, more=later.size - 1)
    return stop(
        told,
        later.size,
        [shown(position) for position in by_row[:EXAMPLES]],
        field="repeated",
    )
