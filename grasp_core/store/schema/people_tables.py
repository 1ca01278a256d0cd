"""People, their sessions, tokens and projects."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, Table, Text, UniqueConstraint

from grasp_core.store.schema.columns import Line, Prose, metadata, project_reference

# Who has signed in, known by issuer and subject of their sign-in; objects name them by `id` as owner.
people = Table(
    "people",
    metadata,
    Column("id", Line(32), primary_key=True),
    Column("issuer", Line(255), nullable=False),
    Column("subject", Line(255), nullable=False),
    Column("email", Line(320), nullable=False),  # verified, in small letters
    Column("name", Prose, nullable=False),
    Column("role", Line(16)),  # null: as the settings say
    Column("created_at", Double, nullable=False),
    Column("signed_in_at", Double, nullable=False),  # last
    Column("disabled_at", Double),
    UniqueConstraint("issuer", "subject"),
    Index("ix_people_email", "email"),
)

# Who holds which mail address, and has what settings and projects give to it. An address stays with who held
# it when they sign in with another one: it may have passed on to somebody else.
addresses = Table(
    "addresses",
    metadata,
    Column("address", Line(320), primary_key=True),
    Column("person_id", Line(32), ForeignKey("people.id", ondelete="CASCADE"), nullable=False),
    Index("ix_addresses_person_id", "person_id"),
)

# Sign-ins that go on, and those that ended lately; in no backup. What browsers carry is not in it.
sessions = Table(
    "sessions",
    metadata,
    Column("key", Line(64), primary_key=True),  # sha256 of what the sign-in provider said
    Column("person_id", Line(32), ForeignKey("people.id", ondelete="CASCADE"), nullable=False),
    Column("browser", Prose, nullable=False, default=""),
    Column("created_at", Double, nullable=False),
    Column("seen_at", Double, nullable=False),
    Column("ended_at", Double),
    Index("ix_sessions_person_id", "person_id"),
)

# Who did what to which object when; entries are added, each with the hash of the one before.
audit = Table(
    "audit",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("at", Double, nullable=False),
    Column("actor", Prose, nullable=False),
    Column("action", Line(16), nullable=False),
    Column("kind", Line(16), nullable=False),
    Column("object_id", Line(80), nullable=False),
    Column("details", Text, nullable=False),  # JSON
    Column("previous", Line(64), nullable=False),
    Column("hash", Line(64), nullable=False),
    Index("ix_audit_at", "at"),
)

# Where the log begins and ends, sealed by a key that is not here: one row.
audit_heads = Table(
    "audit_heads",
    metadata,
    Column("log", Line(8), primary_key=True),
    Column("first", BigInteger, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("hash", Line(64), nullable=False),
    Column("seal", Line(64), nullable=False),
)


# Names need not differ: a name that is taken would tell of a project that one does not see.
projects = Table(
    "projects",
    metadata,
    Column("id", Line(32), primary_key=True),
    Column("name", Prose, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("archived_at", Double),  # nothing is added to it from then on
)

# Who sees a project, and as what; there is no row of those who see everybody's.
project_members = Table(
    "project_members",
    metadata,
    project_reference(primary_key=True),
    Column("kind", Line(16), primary_key=True),  # person, address, domain or group
    Column("name", Line(320), primary_key=True),
    Column("role", Line(16), nullable=False),
)

# The project that a person works in, for their next visit.
current_projects = Table(
    "current_projects",
    metadata,
    Column("person", Line(320), primary_key=True),
    project_reference(),
)
