"""Share links, visits to them, and tries at their passwords."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
)

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
    Column("password", Text),  # its scrypt hash
    Column("max_uses", BigInteger),
    Column("small_groups", Boolean),  # whether they are shown; null as false, of links of before
    Index("ix_links_run_id", "run_id"),
    CheckConstraint("(run_id IS NULL) <> (leaderboard IS NULL)", name="ck_links_opens_one"),
)


def _link_reference() -> Column[str]:
    return Column("link_id", Line(32), ForeignKey("links.id", ondelete="CASCADE"), primary_key=True)


# Visits to links that go on: whoever comes again meanwhile is not counted, nor asked for a password.
link_visits = Table(
    "link_visits",
    metadata,
    _link_reference(),
    Column("visit", Line(64), primary_key=True),  # sha256 of token and what the browser carries
    Column("began_at", Double, nullable=False),
    Index("ix_link_visits_began_at", "began_at"),
)

# Tries at links' passwords in the last quarter of an hour.
link_tries = Table(
    "link_tries",
    metadata,
    _link_reference(),
    Column("who", Line(64), primary_key=True),  # sha256 of token and address; "" for all together
    Column("since", Double, nullable=False),
    Column("tries", Integer, nullable=False),
)
