"""Files, which runs read them, and how they became data sets."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
)

from grasp_core.store.schema.columns import Line, Prose, metadata, project_reference, run_reference

# Of each project its own, even where the content is the same: nobody learns what others have.
files = Table(
    "files",
    metadata,
    project_reference(primary_key=True),
    Column("sha256", Line(64), primary_key=True),
    Column("bytes", BigInteger, nullable=False),
    Column("owner", Prose, nullable=False, default=""),
    Column("created_at", Double, nullable=False),
    # Where the file is, for one that was not uploaded: it then has no chunks.
    Column("location", Prose),
    # What it was fetched from, for one that a connector brought.
    Column("source", Prose),
)

chunks = Table(
    "chunks",
    metadata,
    Column("project_id", Line(32), primary_key=True),
    Column("sha256", Line(64), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("content", LargeBinary, nullable=False),
    ForeignKeyConstraint(["project_id", "sha256"], ["files.project_id", "files.sha256"], ondelete="CASCADE"),
)

run_files = Table(
    "run_files",
    metadata,
    run_reference(),
    Column("position", Integer, primary_key=True),  # 0: annotations, 1: raters
    Column("name", Prose, nullable=False),
    Column("sha256", Line(64), nullable=False),
)

readings = Table(
    "readings",
    metadata,
    Column("id", Line(32), primary_key=True),
    project_reference(),
    Column("signature", Line(64), nullable=False),  # sha256 of the files' column names
    Column("owner", Prose, nullable=False, default=""),
    Column("data", Text, nullable=False),
    Column("axes", Text, nullable=False),
    Column("ids_left_out", Integer, nullable=False, default=0),
    Column("updated_at", Double, nullable=False),
    Index("ix_readings_signature", "signature"),
)

# What somebody has brought and chosen and not yet run; an owner is a person, or the digest of a cookie.
drafts = Table(
    "drafts",
    metadata,
    project_reference(primary_key=True),
    Column("owner", Line(64), primary_key=True),
    Column("data", Text, nullable=False),
    Column("updated_at", Double, nullable=False),
)
