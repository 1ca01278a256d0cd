"""Submissions to the benchmark, and what was scored."""

from __future__ import annotations

from sqlalchemy import Column, Double, Index, LargeBinary, Table, Text, UniqueConstraint

from grasp_core.store.schema.columns import Line, Prose, metadata, project_reference

submissions = Table(
    "submissions",
    metadata,
    Column("id", Line(32), primary_key=True),
    project_reference(),
    Column("name", Prose, nullable=False),
    Column("owner", Prose, nullable=False, default=""),
    Column("created_at", Double, nullable=False),
    Column("sha256", Line(64), nullable=False),
    Column("scores", Text, nullable=False),  # no gold label is in it
    Column("predictions", LargeBinary, nullable=False),  # JSON, deflated
    UniqueConstraint(
        "project_id", "owner", "sha256"
    ),  # sent twice, from many tabs, a system stands here once
)

# Kept when a submission is deleted: what was scored stays counted, whatever project it was in.
scorings = Table(
    "scorings",
    metadata,
    Column("id", Line(32), primary_key=True),
    Column("owner", Prose, nullable=False, default=""),
    Column("task", Line(128), nullable=False),
    Column("sha256", Line(64), nullable=False),  # of the predictions: the same ones are not counted twice
    Column("created_at", Double, nullable=False),
    Index("ix_scorings_task", "task"),
)
