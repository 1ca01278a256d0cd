"""Raters numbered through all parts, in order of first appearance."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from grasp_core.annotations import Int32Array, Int64Array

Hashes = npt.NDArray[np.uint64]


class Numbering:
    """Numbers raters as parts bring them.

    Ids are found by their hashes, which takes a third of the time, and compared; once two have the same
    hash, by their texts.

    Attributes
    ----------
    ids : pyarrow array of str
        Of all raters so far.
    """

    def __init__(self) -> None:
        self.ids = pa.array([], pa.string())
        self._hashes = pd.Index(np.array([], np.uint64))

    def places(self, ids: pa.Array, hashes: Hashes) -> Int32Array:
        """The numbers of a part's raters, shape (n,); those who are new get the next ones.

        Parameters
        ----------
        ids : pyarrow array of str, length n
            No two are the same.
        hashes : uint64 array, shape (n,)
        """
        place = self._find(ids, hashes)
        fresh = place < 0
        if fresh.any():
            place[fresh] = len(self.ids) + np.arange(fresh.sum())
            self.ids = pa.concat_arrays([self.ids, ids.filter(pa.array(fresh))])
            self._hashes = self._hashes.append(pd.Index(hashes[fresh]))
        return place.astype(np.int32)

    def _find(self, ids: pa.Array, hashes: Hashes) -> Int64Array:
        """The numbers of those who are known, -1 for the others."""
        wanted = pd.Index(hashes)
        if self._hashes.is_unique and wanted.is_unique:
            place = self._hashes.get_indexer(wanted).astype(np.int64)
            known = place >= 0
            if self.ids.take(pa.array(place[known])).equals(ids.filter(pa.array(known))):
                return place
        found = pc.index_in(ids, value_set=self.ids).fill_null(-1)
        return np.asarray(found.to_numpy()).astype(np.int64)
