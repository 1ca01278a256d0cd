"""The way for few raters an item: all counts of a row on an item are packed into one number."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import FloatArray, Int64Array
from grasp_core.permutation.jit import borrowing, compiled, inlined, making
from grasp_core.permutation.kernel import sums as at
from grasp_core.permutation.kernel.columns import QUAD, look_up, padded
from grasp_core.permutation.kernel.disagreement import disagree_at_once
from grasp_core.permutation.kernel.item_terms import (
    APART,
    Columns,
    Terms,
    add_labels,
    conclude,
    repeat_item,
    room_for_counts,
    room_for_terms,
)

FIELD_BITS = 13
"""Four whole numbers below 2^13 are exact in one float64; sums are unpacked before they reach 2^13."""
_UNITS = tuple(2.0 ** (FIELD_BITS * place) for place in range(4))
# A row of a table has the real sums; if some values are unknown, then for each category the group's labels
# beyond the expected number; then whole numbers: first 1 if the group rated the item, 1 if both sides'
# pluralities agree and 1 if both sides have two labels or more, then each category's whole numbers as in
# `sums`. For kappa, the others' votes follow, by category.


@inlined
def bits_for(total):  # type: ignore[no-untyped-def]
    """Return the number of bits for counts up to `total`."""
    bits = np.int64(0)
    while total >> bits:
        bits += 1
    return bits


@inlined
def packed_at(n_columns, n_categories, unknown):  # type: ignore[no-untyped-def]
    """Return the position of the first whole numbers in a table's row."""
    return at.PER_COLUMN * n_columns + at.N_REAL + (n_categories if unknown else 0)


@inlined
def enter(new, unknown, table, totals, ties, how, counts, terms, made):  # type: ignore[no-untyped-def]
    """Make new rows of a table: the item's contributions for the group's counts that each number encodes."""
    n_columns, n_categories = how.distances.n_columns, totals.size
    single, packed = at.PER_COLUMN * n_columns, packed_at(n_columns, n_categories, unknown)
    columns = Columns(counts.c, counts.known, counts.ties, counts.values, new.size)
    repeat_item(columns, totals, ties)
    _decode(new, unknown, totals, columns)
    add_labels(columns, how, terms)
    conclude(columns, how, terms)
    for column in range(n_columns):
        disagree_at_once(column, columns, how, terms)
        _copy(terms.inside, made[column], columns.size)
        _copy(terms.across, made[n_columns + column], columns.size)
        _copy(terms.apart, made[2 * n_columns + column], columns.size)
    _copy(terms.plurality, made[single + at.PLURALITY], columns.size)
    _copy(terms.own, made[single + at.NEGENTROPY], columns.size)
    _copy(terms.cross, made[single + at.CROSS], columns.size)
    _copy(terms.weight, made[single + at.WEIGHT], columns.size)
    paired = made[single + at.PAIRED_WEIGHT]
    for i in range(columns.size):
        paired[i] = terms.weight[i] if (terms.n[i] > 1) & (terms.m[i] > 1) else 0.0
    if unknown:
        for k in range(n_categories):
            more = made[single + at.N_REAL + k]
            for i in range(columns.size):
                more[i] = columns.c[k, i] - terms.ratio[i] * columns.known[k, i]
    _pack(columns, terms, made[packed : packed + 1 + n_categories])
    for i in range(columns.size):
        row = table[i]
        for s in range(packed + 1 + n_categories):
            row[s] = made[s, i]
        if terms.first[i] >= 0:
            row[packed + 1 + terms.first[i]] += _UNITS[at.VOTES]
            row[packed + 1 + terms.second[i]] += _UNITS[at.VOTES]
        if how.kappa:
            others_votes = row[packed + 1 + n_categories :]
            for k in range(n_categories):
                others_votes[k] = terms.second[i] == k


@inlined
def _copy(values, into, size):  # type: ignore[no-untyped-def]
    for i in range(size):
        into[i] = values[i]


@inlined
def _pack(columns, terms, packed):  # type: ignore[no-untyped-def]
    """Fill whole numbers, except votes."""
    n, m, first, second, once = terms.n, terms.m, terms.first, terms.second, packed[0]
    for k in range(columns.c.shape[0]):
        c, known, into = columns.c[k], columns.known[k], packed[1 + k]
        for i in range(columns.size):
            others = _UNITS[at.IN_OTHERS] * (first[i] >= 0)
            own = _UNITS[at.IN_PAIRS] * (n[i] > 1) + _UNITS[at.IN_GROUP] * (first[i] >= 0) - others
            into[i] = own * c[i] + others * known[i]
    for i in range(columns.size):
        once[i] = (n[i] > 0) + _UNITS[1] * ((first[i] == second[i]) & (first[i] >= 0))
    for i in range(columns.size):
        once[i] += _UNITS[2] * ((n[i] > 1) & (m[i] > 1))


@inlined
def _decode(new, unknown, totals, columns):  # type: ignore[no-untyped-def]
    """Fill `c` with the counts that numbers encode; subtract counts of `unknown` raters from the totals."""
    place = np.uint64(0)
    for k in range(totals.size):
        bits = np.uint64(bits_for(totals[k]))
        mask, c = (np.uint64(1) << bits) - np.uint64(1), columns.c[k]
        for i in range(new.size):
            c[i] = (new[i] >> place) & mask
        place += bits
    if unknown:
        for k in range(totals.size):
            bits = np.uint64(bits_for(totals[k]))
            mask, known = (np.uint64(1) << bits) - np.uint64(1), columns.known[k]
            for i in range(new.size):
                known[i] -= (new[i] >> place) & mask
            place += bits


@inlined
def unpack(found, columns, n_categories, sparse, out):  # type: ignore[no-untyped-def]
    """Unpack the sums found so far and add them to the groups' sums."""
    unknown = sparse.unknown
    single = at.PER_COLUMN * columns
    n_real, start = single + at.N_REAL, packed_at(columns, n_categories, unknown)
    of = single + at.N_SINGLE
    mask = (np.int64(1) << FIELD_BITS) - 1
    for g in range(found.shape[0]):
        for b in range(found.shape[1]):
            row, sums = found[g, b], out[b, sparse.order[g]]
            for s in range(n_real):
                sums[s] += row[s]
            packed = np.int64(row[start])
            sums[single + at.RATED] += packed & mask
            sums[single + at.AGREED] += packed >> FIELD_BITS & mask
            sums[single + at.PAIRED] += packed >> (2 * FIELD_BITS)
            for k in range(n_categories):
                if unknown:
                    sums[of + at.PER_CATEGORY * k + at.MORE] += row[n_real + k]
                packed = np.int64(row[start + 1 + k])
                for sort in range(at.N_WHOLE):
                    sums[of + at.PER_CATEGORY * k + sort] += packed >> (FIELD_BITS * sort) & mask
            others_votes = sums[of + at.PER_CATEGORY * n_categories :]
            for k in range(others_votes.size):
                others_votes[k] += row[start + 1 + n_categories + k]
            for s in range(row.size):
                row[s] = 0.0


_PER_PASS = 32
"""Permutations counted at a time, so that the counts stay in a core's first cache."""
_REMEMBERED = 12
"""Binary logarithm of the number of an item's counts that are stored."""
_HASH, _HASH_BITS = np.uint64(0x9E3779B97F4A7C15), np.uint64(64 - _REMEMBERED)
_GROUPS = 64
"""Groups whose counts are looked up at one time."""
_AT_ONCE = _GROUPS * _PER_PASS


class _Room(NamedTuple):
    """Arrays for four items under a pass of permutations.

    `numbers`: each row's counts as one number, later the position of their row in the table; 0 in between for
        rare groups, which have labels of few items.
    `met`: positions of rare groups' counts that are not 0, among all of an item's counts.
    `keys`, `row_of`: for each slot of an item, 1 + the number that is stored there, and its row of the table;
        the last key counts the others.
    `new`: numbers whose rows have still to be made.
    `made`: the new rows, by column.
    `totals`, `stride`: the item's labels, and the step of a group's number for one label of each category.
    """

    numbers: npt.NDArray[np.uint64]
    met: Int64Array
    keys: npt.NDArray[np.uint64]
    row_of: npt.NDArray[np.uint16]
    table: FloatArray
    new: npt.NDArray[np.uint64]
    made: FloatArray
    counts: Columns
    terms: Terms
    totals: Int64Array
    stride: npt.NDArray[np.uint64]


@compiled(seconds=8)
def add_up(profiles, counting, how, sparse, out):  # type: ignore[no-untyped-def]
    """Fill `out`, shape (permutations, G, sums), for these profiles, shape (J, permutations)."""
    ties, labels, indptr = counting.ties, counting.labels, counting.labels.indptr
    batch, n_groups = out.shape[0], out.shape[1]
    n_categories, n_items = ties.shape[2], ties.shape[0] * ties.shape[3]
    n_columns, n_unknown = how.distances.n_columns, sparse.belongs.shape[1] - n_groups
    of_others = n_categories if how.kappa else 0
    width = padded(packed_at(n_columns, n_categories, sparse.unknown) + 1 + n_categories + of_others)
    found = np.zeros((n_groups, batch, width))
    room = _room(width, n_groups, n_unknown, how, sparse, ties)
    out[:] = 0.0
    held = np.int64(0)
    for item in range(0, n_items, QUAD):
        items = min(QUAD, n_items - item)
        more = indptr[item + items] - indptr[item]
        held += more
        if held >> FIELD_BITS:
            unpack(found, n_columns, n_categories, sparse, out)
            held = more
        room.numbers[items:] = 0
        room.table[items:, 0] = 0.0
        for q in range(items):
            _start(item + q, labels, sparse.unknown, room.totals[q], room.stride[q], room.keys[q])
        for from_b in range(0, batch, _PER_PASS):
            passed = min(_PER_PASS, batch - from_b)
            for q in range(items):
                met = _count(item + q, labels, profiles, from_b, passed, sparse, q, room)
                if sparse.unknown:
                    _join(sparse, n_unknown, met, passed, q, room)
                here = ties[(item + q) // ties.shape[3], :, :, (item + q) % ties.shape[3]]
                _add_met(q, met, from_b, n_unknown, here, how, sparse, room, found)
            for from_g in range(0, sparse.n_often, _GROUPS):
                to_g = min(from_g + _GROUPS, sparse.n_often)
                for q in range(items):
                    groups = room.numbers[q, n_unknown + from_g : n_unknown + to_g, :passed]
                    made = _find(groups, room.keys[q], room.row_of[q], room.new)
                    here = ties[(item + q) // ties.shape[3], :, :, (item + q) % ties.shape[3]]
                    _make(q, made, here, how, sparse, room)
                for g in range(from_g, to_g):
                    rows = room.numbers[:, n_unknown + g, :passed]
                    look_up(rows, room.table, found[g, from_b : from_b + passed])
    unpack(found, n_columns, n_categories, sparse, out)


@making
def _room(width, n_groups, n_unknown, how, sparse, ties):  # type: ignore[no-untyped-def]
    slots, n_categories = 1 << _REMEMBERED, ties.shape[2]
    like = ties.reshape(ties.size)
    counts = room_for_counts(n_categories, _AT_ONCE, how.distances, like)
    return _Room(
        np.zeros((QUAD, n_unknown + n_groups, _PER_PASS), dtype=np.uint64),
        np.empty((n_groups - sparse.n_often) * _PER_PASS + 1, dtype=np.int64),
        np.zeros((QUAD, slots + 1), dtype=np.uint64),
        np.zeros((QUAD, slots), dtype=np.uint16),
        np.zeros((QUAD, slots + APART, width)),
        np.empty(_AT_ONCE, dtype=np.uint64),
        np.empty((width, counts.size)),
        counts,
        room_for_terms(counts.size, like),
        np.empty((QUAD, n_categories), dtype=np.int64),
        np.empty((QUAD, n_categories), dtype=np.uint64),
    )


@borrowing
def _start(item, labels, unknown, totals, stride, keys):  # type: ignore[no-untyped-def]
    """Count an item's labels; `stride` is the step of a group's number for one label of each category."""
    totals[:] = 0
    for a in range(labels.indptr[item], labels.indptr[item + 1]):
        totals[labels.category[a]] += 1
    size = np.uint64(1)
    for k in range(stride.size):
        stride[k] = size
        size <<= np.uint64(bits_for(totals[k]))
    used = np.uint64(keys.size - 1) if unknown else min(size, np.uint64(keys.size - 1))
    keys[:used] = 0
    keys[-1] = 0  # counts the others


@borrowing
def _count(item, labels, profiles, from_b, passed, sparse, q, room):  # type: ignore[no-untyped-def]
    """Fill every row's counts on one item, as one number, for each permutation of a pass.

    Returns the number of counts of rare groups that are not 0.
    """
    index, stride, met = room.numbers[q], room.stride[q], 0
    index[: index.shape[0] - sparse.order.size + sparse.n_often] = 0
    for a in range(labels.indptr[item], labels.indptr[item + 1]):
        shuffled, step = profiles[labels.rater[a], from_b : from_b + passed], stride[labels.category[a]]
        if sparse.n_often == sparse.order.size:
            _increase(shuffled, step, sparse, index)
        else:
            met = _increase_noting(shuffled, step, sparse, index, room.met, met)
    for u in range(sparse.union.size):
        into, counted = index[sparse.place[sparse.union[u]]], index[sparse.place[sparse.part[u]]]
        for b in range(passed):
            into[b] += counted[b]
    return met


@borrowing
def _increase(shuffled, step, sparse, index):  # type: ignore[no-untyped-def]
    """Count a label for the rows of its rater's profiles."""
    row_ptr, place_of = sparse.row_ptr, sparse.place_of
    for b in range(shuffled.size):
        profile = shuffled[b]
        for r in range(row_ptr[profile], row_ptr[profile + 1]):
            index[place_of[r], b] += step


@borrowing
def _increase_noting(shuffled, step, sparse, index, places, met):  # type: ignore[no-untyped-def]
    """Do as :func:`_increase`, and note rare groups at their first label; return the number noted."""
    row_ptr, rare_ptr, place_of = sparse.row_ptr, sparse.rare_ptr, sparse.place_of
    for b in range(shuffled.size):
        profile = shuffled[b]
        for r in range(row_ptr[profile], rare_ptr[profile]):
            index[place_of[r], b] += step
        for r in range(rare_ptr[profile], row_ptr[profile + 1]):
            place = place_of[r]
            before = index[place, b]
            index[place, b] = before + step
            places[met] = place * _PER_PASS + b
            met += before == 0
    return met


@borrowing
def _join(sparse, n_unknown, met, passed, q, room):  # type: ignore[no-untyped-def]
    """Add the counts of raters with unknown values to a group's number, as higher digits."""
    totals, index = room.totals[q], room.numbers[q]
    size = room.stride[q, -1] << np.uint64(bits_for(totals[-1]))
    for g in range(sparse.n_often):
        into, unknown = index[n_unknown + g], index[sparse.unknown_of[sparse.order[g]]]
        for b in range(passed):
            into[b] += size * unknown[b]
    for a in range(met):
        place, b = room.met[a] // _PER_PASS, room.met[a] % _PER_PASS
        index[place, b] += size * index[sparse.unknown_of[sparse.order[place - n_unknown]], b]


@borrowing
def _add_met(q, met, from_b, n_unknown, ties, how, sparse, room, found):  # type: ignore[no-untyped-def]
    """Look up and add the terms of rare groups that were noted; then reset their counts to 0."""
    index = room.numbers[q]
    flat = index.reshape(index.size)
    for first in range(0, met, _AT_ONCE):
        places = room.met[first : min(first + _AT_ONCE, met)]
        made = _find_at(places, flat, room.keys[q], room.row_of[q], room.new)
        _make(q, made, ties, how, sparse, room)
        for a in range(places.size):
            place = places[a]
            row = room.table[q, flat[place]]
            into = found[place // _PER_PASS - n_unknown, from_b + place % _PER_PASS]
            for s in range(into.size):
                into[s] += row[s]
            flat[place] = 0


@borrowing
def _make(q, made, ties, how, sparse, room):  # type: ignore[no-untyped-def]
    """Make the last rows of an item's table."""
    if made > 0:
        last = np.int64(room.keys[q, -1])
        rows, new = room.table[q, last - made : last], room.new[:made]
        enter(new, sparse.unknown, rows, room.totals[q], ties, how, room.counts, room.terms, room.made)


@borrowing
def _find(index, keys, row_of, new):  # type: ignore[no-untyped-def]
    """Replace numbers by their rows of the table; return the number of rows that have still to be made."""
    made = 0
    _forget(index.size, keys)
    for g in range(index.shape[0]):
        for b in range(index.shape[1]):
            number = index[g, b]
            slot = _slot(number, keys)
            if keys[slot] == 0:
                _remember(number, slot, keys, row_of)
                new[made] = number
                made += 1
            index[g, b] = row_of[slot]
    return made


@borrowing
def _find_at(places, index, keys, row_of, new):  # type: ignore[no-untyped-def]
    """Do as :func:`_find` for numbers at these positions."""
    made = 0
    _forget(places.size, keys)
    for a in range(places.size):
        number = index[places[a]]
        slot = _slot(number, keys)
        if keys[slot] == 0:
            _remember(number, slot, keys, row_of)
            new[made] = number
            made += 1
        index[places[a]] = row_of[slot]
    return made


@borrowing
def _forget(more, keys):  # type: ignore[no-untyped-def]
    """Delete all stored numbers unless `more` fit in: so no row is overwritten within a pass."""
    if keys[-1] + np.uint64(more) > np.uint64(keys.size - 1):
        keys[:] = 0


@borrowing
def _slot(number, keys):  # type: ignore[no-untyped-def]
    """Return the slot where a number is stored, or can be stored."""
    size = np.uint64(keys.size - 1)
    slot = number if number < size else (number * _HASH) >> _HASH_BITS
    while keys[slot] != number + np.uint64(1) and keys[slot] != 0:
        slot = slot + np.uint64(1) if slot + np.uint64(1) < size else np.uint64(0)
    return slot


@borrowing
def _remember(number, slot, keys, row_of):  # type: ignore[no-untyped-def]
    """Store a number, with the table's next row."""
    keys[slot] = number + np.uint64(1)
    row_of[slot] = keys[-1]
    keys[-1] += np.uint64(1)
