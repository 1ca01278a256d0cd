"""Calls of the API, watches, the benchmark."""

from __future__ import annotations

from sqlalchemy import Column, Double, ForeignKey, Index, Integer, LargeBinary, Table, Text, UniqueConstraint

from grasp_core.store.schema.columns import Line, Prose, metadata, project_reference, run_reference

# Personal tokens of the API.
tokens = Table(
    "tokens",
    metadata,
    Column("id", Line(32), primary_key=True),
    Column("token_sha256", Line(64), nullable=False, unique=True),
    Column("owner", Prose, nullable=False, default=""),
    Column("name", Prose, nullable=False),
    Column("scope", Line(8), nullable=False),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
    Column("revoked_at", Double),
    Column("last_used_at", Double),
    Index("ix_tokens_owner", "owner"),
)

# Tokens of tools and databases that people asked to have kept; encrypted with a key that is not here.
source_tokens = Table(
    "source_tokens",
    metadata,
    Column("owner", Line(255), primary_key=True),
    Column("site", Line(255), primary_key=True),  # the server that it opens
    Column("sealed", LargeBinary, nullable=False),
    Column("created_at", Double, nullable=False),
)

# What a request to the API that carried an idempotency key came to, for a day.
outcomes = Table(
    "outcomes",
    metadata,
    Column("key", Line(64), primary_key=True),  # sha256 of person, address and key
    Column("request", Line(64), nullable=False),  # sha256 of what was asked
    Column("owner", Prose, nullable=False, default=""),  # for when somebody is erased
    Column("status", Integer),  # null while the first one is being answered
    Column("body", Text),
    Column("created_at", Double, nullable=False),
)

# How often a person's key of webhooks was made anew; in backups, or keys that ended would hold again.
webhook_keys = Table(
    "webhook_keys",
    metadata,
    Column("owner", Line(255), primary_key=True),
    Column("number", Integer, nullable=False),
)

# Who is to be told when a run ends; kept until that was done or given up.
webhooks = Table(
    "webhooks",
    metadata,
    Column("id", Line(32), primary_key=True),
    run_reference(nullable=True),
    Column("owner", Prose, nullable=False, default=""),
    Column("url", Prose, nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("next_at", Double, nullable=False),
    Index("ix_webhooks_run_id", "run_id"),
)


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
    UniqueConstraint("project_id", "owner", "sha256"),  # sent twice, from many tabs, a row stands once
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
