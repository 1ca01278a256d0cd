"""The way for crossed data, where every rater labelled every item: raters as bits by item and category."""

from typing import NamedTuple

import numpy as np

from grasp_core.model.annotations import Annotations, FloatArray, Int64Array
from grasp_core.model.groups import Grouping
from grasp_core.permutation.jit import borrowing, compiled, making
from grasp_core.permutation.kernel import sums as at
from grasp_core.permutation.kernel.arguments import LEVELS, Distances
from grasp_core.permutation.kernel.columns import QUAD, look_up, padded
from grasp_core.permutation.kernel.counting import ones, shuffle
from grasp_core.permutation.kernel.disagreement import disagree_inside
from grasp_core.permutation.kernel.item_terms import (
    APART,
    Columns,
    Terms,
    repeat_item,
    room_for_counts,
    room_for_terms,
    work_out,
)
from grasp_core.permutation.kernel.profiles import profiles_of, rows_by_column
from grasp_core.statistics.items import count
from grasp_core.statistics.levels import squared_distances

MOST_ENTRIES = 2**17
"""Most rows of a table. Few of many rows are ever filled, but all of them take memory."""
_EXACT_BITS = 52
"""Bits of whole numbers that are exact in float64, so several small numbers are packed into one."""


class Crossed(NamedTuple):
    """A design's arrays for crossed data.

    `linear`: for each rater the labels of each category, and for each column of disagreement
        sum_i sum_l T_il w_kl over the labels k that the rater gave.
    `units`: for each packed column the value of 1 in each field: 2 to the power of its lowest bit, or 0 if
        the field is in another one. Votes for the last category have no field; they follow from the others.
    `profile`: each rater's profile, which defines the groups they belong to.
    `group_ptr`, `group_of`: profile p belongs to the groups ``group_of[group_ptr[p]:group_ptr[p + 1]]``.
    `complement`: of each group, if it is a group after it, otherwise -1.
    `entries`: number of rows of the largest table, one for each possible combination of an item's counts.
    """

    linear: FloatArray
    units: FloatArray
    profile: Int64Array
    group_ptr: Int64Array
    group_of: Int64Array
    complement: Int64Array
    entries: int


def lay_out(
    annotations: Annotations, grouping: Grouping, distances: Distances, width: int, *, kappa: bool
) -> Crossed | None:
    """Build the arrays that all permutations read; None unless data are crossed and tables small.

    `width` is the number of items in a block; `kappa` is as in
    :class:`~grasp_core.permutation.kernel.arguments.Conventions`.
    """
    k = annotations.n_categories
    if k < 2 or annotations.n_items == 0 or not grouping.groups or not grouping.known.all():
        return None
    if annotations.n_annotations != annotations.n_items * annotations.n_raters:
        return None
    totals = count(annotations, np.ones(annotations.n_raters, dtype=np.bool_))
    largest = int(grouping.n_raters.max())
    entries = float((np.minimum(totals[:, :-1], largest) + 1.0).prod(axis=1).max())
    if entries > MOST_ENTRIES:
        return None
    linear = np.zeros((annotations.n_raters, k + distances.n_columns))
    cell = annotations.rater.astype(np.int64) * k + annotations.category
    linear[:, :k] = np.bincount(cell, minlength=annotations.n_raters * k).reshape(-1, k)
    for column in range(distances.n_columns):
        met = (totals @ _weights(distances, column))[annotations.item, annotations.category]
        linear[:, k + column] = np.bincount(annotations.rater, weights=met, minlength=annotations.n_raters)
    most = width * largest
    others = [width.bit_length()] * (k if kappa else 0)
    units = _pack([most.bit_length(), width.bit_length(), *[(2 * width).bit_length()] * (k - 1), 0, *others])
    profile, first_of = profiles_of(grouping.member)
    member = grouping.member[:, first_of]
    groups, complement = rows_by_column(member), np.full(len(member), -1)
    for g in range(len(member)):
        for other in range(g + 1, len(member)):
            if (member[g] != member[other]).all():
                complement[g] = other
    return Crossed(linear, units, profile.astype(np.int64), *groups, complement, int(entries))


def _weights(distances: Distances, column: int) -> FloatArray:
    """Return the weights of pairs of labels in a column of disagreement, shape (K, K)."""
    if not distances.first.size:
        return squared_distances(LEVELS[distances.level], distances.values, np.zeros(distances.values.size))
    weights = np.zeros((distances.values.size, distances.values.size))
    first, second = distances.first[column], distances.second[column]
    weights[first, second] = weights[second, first] = 1.0
    return weights


def _pack(bits: list[int]) -> FloatArray:
    """Pack fields that need `bits`, or 0, into as few columns as possible; see :class:`Crossed`."""
    units = np.zeros((len(bits), len(bits)))
    column = used = 0
    for field, need in enumerate(bits):
        if used + need > _EXACT_BITS:
            column, used = column + 1, 0
        units[column, field] = 2.0**used if need > 0 else 0.0
        used += need
    return units[: column + 1].copy()


BATCH = 8192
"""Most permutations that use one table."""
_PASS = 1024
"""Permutations for which four items are counted and then looked up, both within the first cache."""
# Columns of a table: an item's negentropy and cross-negentropy, the packed fields, then the disagreements.
_OWN, _OTHER, _PACKED = range(3)
# Fields: size of the plurality, 1 if both sides' pluralities agree, then the votes for each category (except
# the last one, which is not counted), and for kappa the others' votes for each category.
_SIZE, _AGREES, _VOTES = range(3)


class _Room(NamedTuple):
    """Arrays for making a table: counts, their terms, their rows in the table, and totals of the item."""

    counts: Columns
    terms: Terms
    place: Int64Array
    totals: Int64Array


@compiled(seconds=5, common=True)
def add_up(seed, start, order, bounds, counting, how, crossed, out):  # type: ignore[no-untyped-def]  # compiled: types are numba's
    """Fill `out`, shape (permutations, G, sums), for the permutations from `start` on."""
    bits, ties, linear = counting.bits, counting.ties, crossed.linear
    n_groups, columns = out.shape[1], how.distances.n_columns
    n_items = counting.labels.rater.size // order.size
    labels = np.zeros(linear.shape[1])
    for j in range(order.size):
        for s in range(labels.size):
            labels[s] += linear[j, s]
    most = min(BATCH, out.shape[0])
    masks = np.empty((n_groups, bits.shape[2], most), dtype=np.uint64)
    on_raters = np.empty((most, n_groups, linear.shape[1]))
    width = padded(_PACKED + crossed.units.shape[0] + columns)
    index = np.zeros((QUAD, _PASS), dtype=np.uint64)
    filled, tables = np.zeros((QUAD, crossed.entries), dtype=np.int64), np.int64(0)
    places = np.empty(crossed.units.shape[1], dtype=np.int64)
    single = at.PER_COLUMN * columns
    places[_SIZE], places[_AGREES] = single + at.PLURALITY, single + at.AGREED
    for k in range(bits.shape[1]):
        places[_VOTES + k] = single + at.N_SINGLE + at.VOTES + at.PER_CATEGORY * k
    for field in range(_VOTES + bits.shape[1], places.size):
        places[field] = out.shape[2] - places.size + field
    done = np.empty(n_groups, dtype=np.bool_)
    like = ties.reshape(ties.size)
    counts = room_for_counts(bits.shape[1], _PASS, how.distances, like)
    room = _Room(
        counts,
        room_for_terms(counts.size, like),
        np.empty(_PASS, dtype=np.int64),
        np.empty((2, bits.shape[1]), dtype=np.int64),
    )
    for first in range(0, out.shape[0], most):
        batch = min(most, out.shape[0] - first)
        _draw(seed, start + first, batch, order, bounds, crossed, masks, on_raters)
        done[:] = False
        for g in range(n_groups):
            if done[g]:
                continue
            n, other, sides = np.int64(0), crossed.complement[g], np.int64(1)
            for w in range(masks.shape[1]):
                n += np.int64(ones(masks[g, w, 0]))
            if other >= 0:
                done[other], sides = True, np.int64(2)
            found = np.empty((most, sides * width))
            table = np.empty((QUAD, crossed.entries + APART, sides * width))
            for side in range(sides):
                out[first : first + batch, other if side else g] = 0.0
            for block in range(ties.shape[0]):
                items = min(ties.shape[3], n_items - block * ties.shape[3])
                found[:batch] = 0.0
                for item in range(0, items, QUAD):
                    here = min(QUAD, items - item)
                    for q in range(here, QUAD):
                        table[q, 0] = 0.0
                        index[q] = 0
                    tables += 1
                    for b in range(0, batch, _PASS):
                        passed = min(_PASS, batch - b)
                        for q in range(here):
                            _total(bits[block], item + q, n, room.totals)
                            radix = room.totals[1]
                            _index(masks[g], b, bits[block], item + q, radix, index[q, :passed])
                            entries = _new(index[q, :passed], filled[q], tables, room.place)
                            if entries > 0:
                                place, of_item = room.place[:entries], ties[block, :, :, item + q]
                                _fill(table[q], place, n, of_item, how, crossed.units, width, room)
                        look_up(index, table, found[b : b + passed])
                last = _VOTES + bits.shape[1] - 1
                for side in range(sides):
                    sums = out[first : first + batch, other if side else g]
                    of_side = found[:batch, side * width : (side + 1) * width]
                    _unpack(of_side, crossed.units, places, last, order.size > n, items, columns, sums)
            for side in range(sides):
                of, size = (other, order.size - n) if side else (g, n)
                sums = out[first : first + batch, of]
                _add_linear(on_raters[:batch, of], labels, size, order.size - size, n_items, columns, sums)


@making
def _draw(seed, start, batch, order, bounds, crossed, masks, on_raters):  # type: ignore[no-untyped-def]
    """Draw a batch of permutations: fill each group's raters, as bit sets, and their linear sums."""
    linear, group_ptr, group_of = crossed.linear, crossed.group_ptr, crossed.group_of
    words = np.empty(order.size + 3, dtype=np.uint64)
    ordered, shuffled = np.empty_like(order), np.empty_like(order)
    for i in range(order.size):
        ordered[i] = crossed.profile[order[i]]
    held = np.empty((group_ptr.size - 1, masks.shape[1]), dtype=np.uint64)
    sums = np.empty((group_ptr.size - 1, linear.shape[1]))
    members = np.empty(masks.shape[:2], dtype=np.uint64)
    on_raters[:batch] = 0.0
    for b in range(batch):
        for i in range(order.size):
            shuffled[i] = ordered[i]
        shuffle(seed, np.uint64(start + b), bounds, words, shuffled)
        held[:], sums[:], members[:] = 0, 0.0, 0
        for i in range(order.size):
            j, p = order[i], shuffled[i]
            held[p, j >> 6] |= np.uint64(1) << np.uint64(j & 63)
            for s in range(linear.shape[1]):
                sums[p, s] += linear[j, s]
        for p in range(held.shape[0]):
            for a in range(group_ptr[p], group_ptr[p + 1]):
                g = group_of[a]
                for w in range(held.shape[1]):
                    members[g, w] |= held[p, w]
                for s in range(linear.shape[1]):
                    on_raters[b, g, s] += sums[p, s]
        for g in range(members.shape[0]):
            for w in range(members.shape[1]):
                masks[g, w, b] = members[g, w]


@borrowing
def _index(masks, from_b, bits, item, radix, index):  # type: ignore[no-untyped-def]
    """Fill, for each permutation, one number for the counts of all categories but the last.

    `radix`: see :func:`_total`.
    """
    n_words = bits.shape[1]
    index[:] = 0
    for k in range(bits.shape[0] - 1):
        for w in range(0, n_words, 2):  # two words in a pass
            scale = np.uint64(radix[k] if w == 0 else 1)
            raters, members = bits[k, w, item], masks[w, from_b:]
            if w + 1 < n_words:
                more, others = bits[k, w + 1, item], masks[w + 1, from_b:]
                for b in range(index.size):
                    index[b] = index[b] * scale + ones(members[b] & raters) + ones(others[b] & more)
            else:
                for b in range(index.size):
                    index[b] = index[b] * scale + ones(members[b] & raters)


@borrowing
def _new(index, filled, table, place):  # type: ignore[no-untyped-def]
    """Fill `place` with the rows of `index` that this table lacks, mark them as its own, return their number.

    Most possible counts never occur, so that rows are computed when they are first needed.
    """
    entries = np.int64(0)
    for b in range(index.size):
        row = index[b]
        if filled[row] != table:
            filled[row] = table
            place[entries] = np.int64(row)
            entries += 1
    return entries


@borrowing
def _fill(table, place, n, ties, how, units, width, room):  # type: ignore[no-untyped-def]
    """Fill the rows `place` with an item's contributions, without linear ones, to a group of `n`.

    They are `width` columns wide; twice as wide rows also have the contributions to the group's complement.
    """
    c, last = room.counts.c, room.totals.shape[1] - 1
    columns = Columns(c, room.counts.known, room.counts.ties, room.counts.values, place.size)
    repeat_item(columns, room.totals[0], ties)
    for i in range(place.size):
        row, left = place[i], n
        for k in range(last - 1, -1, -1):
            count = row % room.totals[1, k]
            row //= room.totals[1, k]
            c[k, i], left = count, left - count
        c[last, i] = left
    for first in range(0, table.shape[1], width):
        if first > 0:
            for k in range(c.shape[0]):
                for i in range(place.size):
                    c[k, i] = room.totals[0, k] - c[k, i]
        _fill_side(table[:, first : first + width], place, columns, how, units, room.terms)


@borrowing
def _fill_side(table, place, columns, how, units, terms):  # type: ignore[no-untyped-def]
    """Fill the rows `place` of a table from the counts in `columns`."""
    work_out(columns, how, terms)
    inside = _PACKED + units.shape[0]
    for i in range(columns.size):
        row, first, second = table[place[i]], terms.first[i], terms.second[i]
        row[:] = 0.0
        row[_OWN], row[_OTHER] = terms.own[i], terms.cross[i]
        for q in range(units.shape[0]):
            row[_PACKED + q] = units[q, _SIZE] * terms.largest[i]
            if first >= 0:
                votes = units[q, _VOTES + first] + units[q, _VOTES + second]
                row[_PACKED + q] += votes + units[q, _AGREES] * (first == second)
                if how.kappa:
                    row[_PACKED + q] += units[q, _VOTES + columns.c.shape[0] + second]
    for column in range(how.distances.n_columns):
        disagree_inside(column, columns, how, terms)
        for i in range(columns.size):
            table[place[i], inside + column] = terms.inside[i]


@borrowing
def _total(bits, item, n, totals):  # type: ignore[no-untyped-def]
    """Fill `totals`, shape (2, K): an item's labels, and 1 + the most that a group of `n` can have given."""
    totals[:] = 0
    for k in range(bits.shape[0]):
        for w in range(bits.shape[1]):
            totals[0, k] += np.int64(ones(bits[k, w, item]))
        totals[1, k] = min(totals[0, k], n) + 1


@borrowing
def _unpack(found, units, places, last, shared, items, columns, sums):  # type: ignore[no-untyped-def]
    """Add a block of items' looked-up rows to the group's sums.

    `places` are positions of the packed fields; field `last` has the votes for the last category.
    """
    single = at.PER_COLUMN * columns
    inside = _PACKED + units.shape[0]
    for b in range(found.shape[0]):
        row, into = found[b], sums[b]
        for s in range(columns):
            into[s] += row[inside + s]
        into[single + at.NEGENTROPY] += row[_OWN]
        into[single + at.CROSS] += row[_OTHER]
        votes = 2.0 * items * shared
        for q in range(units.shape[0]):
            packed = row[_PACKED + q]
            for field in range(units.shape[1] - 1, -1, -1):  # the highest first
                if units[q, field] > 0:
                    count = np.floor(packed / units[q, field])
                    packed -= count * units[q, field]
                    into[places[field]] += count
                    votes -= count * ((field >= _VOTES) & (field < last))
        into[places[last]] += votes


@borrowing
def _add_linear(on_raters, labels, n, m, n_items, columns, sums):  # type: ignore[no-untyped-def]
    """Add the terms that are linear in the counts, and divide the pluralities, after all items are added."""
    n_categories = on_raters.shape[1] - columns
    single, of = at.PER_COLUMN * columns, at.PER_COLUMN * columns + at.N_SINGLE
    paired, shared, both_paired = n > 1, m > 0, (n > 1) & (m > 1)
    x, y, ratio = np.float64(n), np.float64(m), n / np.float64(n + m)
    weight = n_items * ratio * y
    for b in range(sums.shape[0]):
        into, line = sums[b], on_raters[b]
        for s in range(columns):
            inside = (x - 1) * into[s]
            across = line[n_categories + s] - inside
            others = labels[n_categories + s] - line[n_categories + s] - across
            into[columns + s] = shared * (x + y) * across / (x * max(y, 1.0))
            apart = 2 * across - y * into[s] - x * others / max(y - 1, 1.0)
            into[2 * columns + s] = apart / (x + y) if both_paired else 0.0
        into[single + at.PLURALITY] /= n
        into[single + at.WEIGHT] = weight
        into[single + at.PAIRED_WEIGHT] = weight if both_paired else 0.0
        into[single + at.RATED] = n_items
        into[single + at.PAIRED] = n_items * both_paired
        for k in range(n_categories):
            place = of + at.PER_CATEGORY * k
            into[place + at.IN_PAIRS] = paired * line[k]
            into[place + at.IN_GROUP] = shared * line[k]
            into[place + at.IN_OTHERS] = labels[k] - line[k]
            into[place + at.MORE] = line[k] - ratio * labels[k]
