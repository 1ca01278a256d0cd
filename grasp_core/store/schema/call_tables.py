"""Calls to the API: personal tokens, outcomes, and who is told when a run ends."""

from __future__ import annotations

from sqlalchemy import Column, Double, Index, Integer, LargeBinary, Table, Text

from grasp_core.store.schema.columns import Line, Prose, metadata, run_reference

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
