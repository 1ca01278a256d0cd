"""Runs, and what is kept with a run while it goes on and after."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
)

from grasp_core.store.schema.columns import Line, Prose, metadata, project_reference, run_reference

runs = Table(
    "runs",
    metadata,
    Column("id", Line(32), primary_key=True),
    project_reference(),
    # sha256 over data, spec and code version: the same question; null where a result was brought along.
    Column("key", Line(64)),
    Column("title", Prose, nullable=False),
    Column("owner", Prose, nullable=False, default=""),
    Column("note", Prose, nullable=False, default=""),
    Column("state", Line(16), nullable=False),
    Column("error", Prose),
    Column("created_at", Double, nullable=False),
    Column("finished_at", Double),
    Column("duration_s", Double),
    Column("code_version", Line(64), nullable=False),
    Column("spec", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("result", Text),
    Column("verdict", Prose),  # the result in one sentence; null where it has none
    Column("done", BigInteger, nullable=False, default=0),
    Column("total", BigInteger, nullable=False),
    Column("cancel_requested", Boolean, nullable=False, default=False),
    # Each claim raises `attempt`; what an earlier claim still writes is refused.
    Column("attempt", Integer, nullable=False, default=0),
    Column("lease_until", Double, nullable=False, default=0.0),
    # Whoever asks a question has a run of their own; one asked in another project is none that is known here.
    UniqueConstraint("project_id", "key", "owner"),
    Index("ix_runs_state", "state", "created_at"),
)

tags = Table(
    "tags",
    metadata,
    run_reference(),
    Column("tag", Line(64), primary_key=True),
)

checkpoints = Table(
    "checkpoints",
    metadata,
    run_reference(),
    Column("start", BigInteger, primary_key=True),
    Column("stop", BigInteger, nullable=False),
    Column("shuffled", LargeBinary, nullable=False),  # float64, little endian, (stop - start, W)
)

# What was computed of a run that is so long that its shuffled values are counted, in place of checkpoints.
tallies = Table(
    "tallies",
    metadata,
    run_reference(),
    Column("state", LargeBinary, nullable=False),  # .npz of whole-number counts and what they are counted by
)

# What is found so far of a run that goes on; deleted when it ends, and in no backup.
provisional_results = Table(
    "provisional_results",
    metadata,
    run_reference(),
    Column("content", LargeBinary, nullable=False),  # JSON, deflated
)

# How often the process that computed a run was lost, one time after the other, before the run had got on.
losses = Table(
    "losses",
    metadata,
    run_reference(),
    Column("count", Integer, nullable=False),
)

# What was asked about a run that is done, beside its result: computed once, then kept with the run.
answers = Table(
    "answers",
    metadata,
    run_reference(),
    Column("name", Line(80), primary_key=True),
    Column("content", LargeBinary, nullable=False),  # JSON, deflated
)
