"""Share links."""

from __future__ import annotations

from sqlalchemy import BigInteger, CheckConstraint, Column, Double, Index, Table, Text

from grasp_core.store.schema.columns import Line, Prose, metadata, project_reference, run_reference

# What a link opens: a run, or a leaderboard as it was when the link was made.
links = Table(
    "links",
    metadata,
    Column("id", Line(32), primary_key=True),
    project_reference(),
    run_reference(nullable=True),
    Column("leaderboard", Text),
    Column("token_sha256", Line(64), nullable=False, unique=True),
    Column("label", Prose, nullable=False, default=""),
    Column("created_by", Prose, nullable=False, default=""),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double),
    Column("revoked_at", Double),
    Column("uses", BigInteger, nullable=False, default=0),
    Column("last_used_at", Double),
    Index("ix_links_run_id", "run_id"),
    CheckConstraint("(run_id IS NULL) <> (leaderboard IS NULL)", name="ck_links_opens_one"),
)
