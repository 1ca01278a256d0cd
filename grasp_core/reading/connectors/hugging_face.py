"""Hugging Face: a split of a data set as Parquet, by the library `datasets`; no code of a data set is run."""

from __future__ import annotations

import re
from typing import Any

import pyarrow.parquet as pq
from datasets import Audio, Image, Video, load_dataset

from grasp_core.model.errors import DataError
from grasp_core.model.text import listed, quoted
from grasp_core.reading.connectors.source import Job

_BATCH = 10_000
_NO_TEXT = (Audio, Image, Video)


def fetch(job: Job) -> str:
    """Write the split into a file; returns its name."""
    address, _, revision = job.source.address.partition("@")
    found = load_dataset(
        address,
        job.source.option("config") or None,
        revision=revision or None,
        token=job.token or False,
        streaming=True,
    )
    split = _split(found, job)
    rows = found[split]
    silent = [name for name, kind in (rows.features or {}).items() if isinstance(kind, _NO_TEXT)]
    rows = rows.remove_columns(silent) if silent else rows  # pictures and sounds, which nothing here reads
    name = re.sub(r"[^\w.-]", "_", f"{address}-{split}.parquet")
    count = 0
    writer = None
    try:
        for batch in rows.with_format("arrow").iter(batch_size=_BATCH):
            writer = writer or pq.ParquetWriter(job.folder / name, batch.schema)
            writer.write_table(batch.cast(writer.schema))
            count += len(batch)
            job.told(f"{count:,} rows")
    finally:
        if writer is not None:
            writer.close()
    if not count:
        raise DataError(f"split {quoted(split)} of {address} has no rows, so there is nothing to read")
    return name


def _split(found: Any, job: Job) -> str:
    splits, asked = list(found), job.source.option("split")
    if not asked and len(splits) == 1:
        return str(splits[0])
    if asked in splits:
        return asked
    have = listed(list(map(str, splits)))
    if asked:
        raise DataError(f"{job.source.address} has no split {quoted(asked)}; it has {have}")
    raise DataError(f"{job.source.address} has {len(splits)} splits: {have}; name one (?split=...)")
