"""The tables. Changes to them go through a migration in `migrations/versions`.

Times are seconds since 1970 (UTC) by the database's clock, the same for all servers. Documents (spec, result,
data summary) are JSON texts in ASCII that carry their own version; what people write is :class:`Line` or
:class:`Prose`.
"""

from __future__ import annotations

import re

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with U+FFFD for NUL, which PostgreSQL refuses, and half surrogates, which are no Unicode."""
    return _UNSTORABLE.sub("\ufffd", text)


class _Storable(TypeDecorator[str]):
    """A text that is made :func:`storable` on its way in."""

    impl: type[String] = Text
    cache_ok = True

    @property
    def python_type(self) -> type[str]:
        """The value of a row."""
        return str

    def process_bind_param(self, value: str | None, dialect: object) -> str | None:
        """See :func:`storable`."""
        return None if value is None else storable(value)


class Line(_Storable):
    """A short text, made storable on its way in."""

    impl = String
    cache_ok = True


class Prose(_Storable):
    """A text of any length, made storable on its way in."""

    impl = Text
    cache_ok = True


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _project_reference(*, primary_key: bool = False) -> Column[str]:
    return Column(
        "project_id",
        Line(32),
        ForeignKey("projects.id", ondelete="CASCADE"),
        primary_key=primary_key,
        nullable=False,
    )


def _run_reference(*, nullable: bool = False) -> Column[str]:
    return Column(
        "run_id",
        Line(32),
        ForeignKey("runs.id", ondelete="CASCADE"),
        primary_key=not nullable,
        nullable=nullable,
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
    _project_reference(primary_key=True),
    Column("kind", Line(16), primary_key=True),  # person, address, domain or group
    Column("name", Line(320), primary_key=True),
    Column("role", Line(16), nullable=False),
)

# The project that a person works in, for their next visit.
current_projects = Table(
    "current_projects",
    metadata,
    Column("person", Line(320), primary_key=True),
    _project_reference(),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Line(32), primary_key=True),
    _project_reference(),
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
    Column("done", BigInteger, nullable=False, default=0),
    Column("total", BigInteger, nullable=False),
    Column("cancel_requested", Boolean, nullable=False, default=False),
    # Each claim raises `attempt`; what an earlier claim still writes is refused.
    Column("attempt", Integer, nullable=False, default=0),
    Column("lease_until", Double, nullable=False, default=0.0),
    UniqueConstraint("project_id", "key"),  # a question asked elsewhere is none that is known here
    Index("ix_runs_state", "state", "created_at"),
)

tags = Table(
    "tags",
    metadata,
    _run_reference(),
    Column("tag", Line(64), primary_key=True),
)

checkpoints = Table(
    "checkpoints",
    metadata,
    _run_reference(),
    Column("start", BigInteger, primary_key=True),
    Column("stop", BigInteger, nullable=False),
    Column("shuffled", LargeBinary, nullable=False),  # float64, little endian, (stop - start, W)
)

# What was computed of a run that is so long that its shuffled values are counted, in place of checkpoints.
tallies = Table(
    "tallies",
    metadata,
    _run_reference(),
    Column("state", LargeBinary, nullable=False),  # .npz of whole-number counts and what they are counted by
)

# What is found so far of a run that goes on; deleted when it ends, and in no backup.
provisional_results = Table(
    "provisional_results",
    metadata,
    _run_reference(),
    Column("content", LargeBinary, nullable=False),  # JSON, deflated
)

# What was asked about a run that is done, beside its result: computed once, then kept with the run.
answers = Table(
    "answers",
    metadata,
    _run_reference(),
    Column("name", Line(80), primary_key=True),
    Column("content", LargeBinary, nullable=False),  # JSON, deflated
)

# Of each project its own, even where the content is the same: nobody learns what others have.
files = Table(
    "files",
    metadata,
    _project_reference(primary_key=True),
    Column("sha256", Line(64), primary_key=True),
    Column("bytes", BigInteger, nullable=False),
    Column("owner", Prose, nullable=False, default=""),
    Column("created_at", Double, nullable=False),
    # Where the file is, for one that was not uploaded: it then has no chunks.
    Column("location", Prose),
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
    _run_reference(),
    Column("position", Integer, primary_key=True),  # 0: annotations, 1: raters
    Column("name", Prose, nullable=False),
    Column("sha256", Line(64), nullable=False),
)

readings = Table(
    "readings",
    metadata,
    Column("id", Line(32), primary_key=True),
    _project_reference(),
    Column("signature", Line(64), nullable=False),  # sha256 of the files' column names
    Column("owner", Prose, nullable=False, default=""),
    Column("data", Text, nullable=False),
    Column("axes", Text, nullable=False),
    Column("ids_left_out", Integer, nullable=False, default=0),
    Column("updated_at", Double, nullable=False),
    Index("ix_readings_signature", "signature"),
)

submissions = Table(
    "submissions",
    metadata,
    Column("id", Line(32), primary_key=True),
    _project_reference(),
    Column("name", Prose, nullable=False),
    Column("owner", Prose, nullable=False, default=""),
    Column("created_at", Double, nullable=False),
    Column("sha256", Line(64), nullable=False),
    Column("scores", Text, nullable=False),  # no gold label is in it
    Column("predictions", LargeBinary, nullable=False),  # JSON, deflated
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

# What a link opens: a run, or a leaderboard as it was when the link was made.
links = Table(
    "links",
    metadata,
    Column("id", Line(32), primary_key=True),
    _project_reference(),
    _run_reference(nullable=True),
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

# What a request to the API that carried an idempotency key came to, for a day.
outcomes = Table(
    "outcomes",
    metadata,
    Column("key", Line(64), primary_key=True),  # sha256 of person, address and key
    Column("request", Line(64), nullable=False),  # sha256 of what was asked
    Column("status", Integer),  # null while the first one is being answered
    Column("body", Text),
    Column("created_at", Double, nullable=False),
)

# Who is to be told when a run ends; kept until that was done or given up.
webhooks = Table(
    "webhooks",
    metadata,
    Column("id", Line(32), primary_key=True),
    _run_reference(nullable=True),
    Column("owner", Prose, nullable=False, default=""),
    Column("url", Prose, nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("next_at", Double, nullable=False),
    Index("ix_webhooks_run_id", "run_id"),
)

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

PASSING = frozenset({provisional_results, tokens, outcomes, webhooks, sessions})
"""Tables that no backup holds: what is found anew, and keys that would come back to life."""
