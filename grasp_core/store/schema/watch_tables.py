"""Watches: saved analyses that are run again when their files change."""

from __future__ import annotations

from sqlalchemy import Column, Double, ForeignKey, Index, Integer, Table, Text

from grasp_core.store.schema.columns import Line, Prose, metadata, project_reference, run_reference


def _run(name: str) -> Column[str]:
    return Column(name, Line(32), ForeignKey("runs.id", ondelete="SET NULL"))


watches = Table(
    "watches",
    metadata,
    Column("id", Line(32), primary_key=True),
    project_reference(),
    _run("last_run_id"),  # whose data new ones are held against, and whose spec is run again
    _run("going_run_id"),  # the one of changed data, until it has ended
    Column("owner", Prose, nullable=False, default=""),
    Column("title", Prose, nullable=False),
    Column("sources", Text, nullable=False),  # JSON: where each file is
    Column("every", Line(8), nullable=False),
    Column("created_at", Double, nullable=False),
    Column("looked_at", Double),
    Column("next_at", Double, nullable=False),
    Column("lease_until", Double, nullable=False, default=0.0),  # whoever looks holds it until then
    Column("failures", Integer, nullable=False, default=0),  # in a row
    Column("problem", Prose),  # of the last look
    Column("paused", Line(8)),  # why
    Column("paused_at", Double),
    Column("webhook", Text),  # told when a run of changed data ends
    Index("ix_watches_next_at", "next_at"),
)

# Runs of a watch in order; the first is the one that was watched.
watch_runs = Table(
    "watch_runs",
    metadata,
    Column("watch_id", Line(32), ForeignKey("watches.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("added_at", Double, nullable=False),
    run_reference(nullable=True),
    Index("ix_watch_runs_run_id", "run_id"),
)
