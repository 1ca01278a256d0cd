"""The tables. Changes to them go through a migration in `migrations/versions`.

Times are seconds since 1970 (UTC) by the database's clock, the same for all servers. Documents (spec, result,
data summary) are JSON texts in ASCII that carry their own version; what people write is :class:`ShortText` or
:class:`Prose`.
"""

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
from sqlalchemy.schema import SchemaItem

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """Replace NUL, which PostgreSQL refuses, and lone surrogates, which are not valid Unicode, by U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


class _Storable(TypeDecorator[str]):
    """A text that :func:`storable` changes before it is saved."""

    impl: type[String] = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: object) -> str | None:
        """See :func:`storable`."""
        return None if value is None else storable(value)


class ShortText(_Storable):
    """A short text, made storable before it is saved."""

    impl = String
    cache_ok = True


class Prose(_Storable):
    """A text of any length, made storable before it is saved."""

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


def _table(name: str, *columns: SchemaItem) -> Table:
    return Table(name, metadata, *columns)


def _project(*, primary_key: bool = False) -> Column[str]:
    """Return the column that names a row's project; the row is deleted with the project."""
    project = ForeignKey("projects.id", ondelete="CASCADE")
    return Column("project_id", ShortText(32), project, primary_key=primary_key, nullable=False)


def _run(*, nullable: bool = False) -> Column[str]:
    """Return the column that names a row's run; the row is deleted with the run."""
    run = ForeignKey("runs.id", ondelete="CASCADE")
    return Column("run_id", ShortText(32), run, primary_key=not nullable, nullable=nullable)


def _optional_run(name: str) -> Column[str]:
    """Return a column that names a run; the row stays when the run is deleted."""
    return Column(name, ShortText(32), ForeignKey("runs.id", ondelete="SET NULL"))


def _link() -> Column[str]:
    return Column("link_id", ShortText(32), ForeignKey("links.id", ondelete="CASCADE"), primary_key=True)


# People who have signed in, known by issuer and subject of the sign-in; objects name the `id` as owner.
people = _table(
    "people",
    Column("id", ShortText(32), primary_key=True),
    Column("issuer", ShortText(255), nullable=False),
    Column("subject", ShortText(255), nullable=False),
    Column("email", ShortText(320), nullable=False),  # verified, in small letters
    Column("name", Prose, nullable=False),
    Column("role", ShortText(16)),  # null: as the settings say
    Column("created_at", Double, nullable=False),
    Column("signed_in_at", Double, nullable=False),  # the last time
    Column("disabled_at", Double),
    UniqueConstraint("issuer", "subject"),
    Index("ix_people_email", "email"),
)

# Holders of mail addresses, who have the rights that settings and projects give to the address. People keep
# an address when they sign in with another one: somebody else may use the old one by now.
addresses = _table(
    "addresses",
    Column("address", ShortText(320), primary_key=True),
    Column("person_id", ShortText(32), ForeignKey("people.id", ondelete="CASCADE"), nullable=False),
    Index("ix_addresses_person_id", "person_id"),
)

# Current sign-ins, and those that ended recently; in no backup. The browsers' cookies are not in it.
sessions = _table(
    "sessions",
    Column("key", ShortText(64), primary_key=True),  # sha256 of the sign-in provider's claims
    Column("person_id", ShortText(32), ForeignKey("people.id", ondelete="CASCADE"), nullable=False),
    Column("browser", Prose, nullable=False, default=""),
    Column("created_at", Double, nullable=False),
    Column("seen_at", Double, nullable=False),
    Column("ended_at", Double),
    Index("ix_sessions_person_id", "person_id"),
)

# Audit log: actor, action, object and time. Each new entry has the hash of the one before.
audit = _table(
    "audit",
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("at", Double, nullable=False),
    Column("actor", Prose, nullable=False),
    Column("action", ShortText(16), nullable=False),
    Column("kind", ShortText(16), nullable=False),
    Column("object_id", ShortText(80), nullable=False),
    Column("details", Text, nullable=False),  # JSON
    Column("previous", ShortText(64), nullable=False),
    Column("hash", ShortText(64), nullable=False),
    Index("ix_audit_at", "at"),
)

# One row: first and last entry of the log, sealed by a key that is not in the database.
audit_heads = _table(
    "audit_heads",
    Column("log", ShortText(8), primary_key=True),
    Column("first", BigInteger, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("hash", ShortText(64), nullable=False),
    Column("seal", ShortText(64), nullable=False),
)

# Projects may have the same name: refusing a name would reveal a project that the person does not see.
projects = _table(
    "projects",
    Column("id", ShortText(32), primary_key=True),
    Column("name", Prose, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("archived_at", Double),  # nothing is added to it from then on
)

# Members of projects, and their roles; the project Everyone has no rows.
project_members = _table(
    "project_members",
    _project(primary_key=True),
    Column("kind", ShortText(16), primary_key=True),  # person, address, domain or group
    Column("name", ShortText(320), primary_key=True),
    Column("role", ShortText(16), nullable=False),
)

# The project that a person works in, for their next visit.
current_projects = _table("current_projects", Column("person", ShortText(320), primary_key=True), _project())

# Each project has its own row, even if the content is the same: nobody learns what others have.
files = _table(
    "files",
    _project(primary_key=True),
    Column("sha256", ShortText(64), primary_key=True),
    Column("bytes", BigInteger, nullable=False),
    Column("owner", Prose, nullable=False, default=""),
    Column("created_at", Double, nullable=False),
    # Location of a file that was not uploaded; it has no chunks.
    Column("location", Prose),
    # Source of a file that a connector fetched, or location of a stored file that was also read there.
    Column("source", Prose),
    # The name that its owner used last.
    Column("name", Prose),
)

chunks = _table(
    "chunks",
    Column("project_id", ShortText(32), primary_key=True),
    Column("sha256", ShortText(64), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("content", LargeBinary, nullable=False),
    ForeignKeyConstraint(["project_id", "sha256"], ["files.project_id", "files.sha256"], ondelete="CASCADE"),
)

run_files = _table(
    "run_files",
    _run(),
    Column("position", Integer, primary_key=True),  # 0: annotations, 1: raters
    Column("name", Prose, nullable=False),
    Column("sha256", ShortText(64), nullable=False),
)

readings = _table(
    "readings",
    Column("id", ShortText(32), primary_key=True),
    _project(),
    Column("signature", ShortText(64), nullable=False),  # sha256 of the files' column names
    Column("owner", Prose, nullable=False, default=""),
    Column("data", Text, nullable=False),
    Column("axes", Text, nullable=False),
    Column("ids_left_out", Integer, nullable=False, default=0),
    Column("updated_at", Double, nullable=False),
    Index("ix_readings_signature", "signature"),
)

# Files and choices that somebody has not run yet; an owner is a person, or the digest of a cookie.
drafts = _table(
    "drafts",
    _project(primary_key=True),
    Column("owner", ShortText(64), primary_key=True),
    Column("data", Text, nullable=False),
    Column("updated_at", Double, nullable=False),
)

runs = _table(
    "runs",
    Column("id", ShortText(32), primary_key=True),
    _project(),
    # sha256 over data, spec and code version, equal for the same question; null if the result was uploaded.
    Column("key", ShortText(64)),
    Column("title", Prose, nullable=False),
    Column("owner", Prose, nullable=False, default=""),
    Column("note", Prose, nullable=False, default=""),
    Column("state", ShortText(16), nullable=False),
    Column("error", Prose),
    Column("created_at", Double, nullable=False),
    Column("finished_at", Double),
    Column("duration_s", Double),
    Column("code_version", ShortText(64), nullable=False),
    Column("spec", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("result", Text),
    Column("verdict", Prose),  # the result in one sentence; null if there is none
    Column("done", BigInteger, nullable=False, default=0),
    Column("total", BigInteger, nullable=False),
    Column("cancel_requested", Boolean, nullable=False, default=False),
    # Each claim raises `attempt`; later writes of an earlier claim are refused.
    Column("attempt", Integer, nullable=False, default=0),
    Column("lease_until", Double, nullable=False, default=0.0),
    # Each person who asks a question has a run of their own, and another one in each project.
    UniqueConstraint("project_id", "key", "owner"),
    Index("ix_runs_state", "state", "created_at"),
)

tags = _table("tags", _run(), Column("tag", ShortText(64), primary_key=True))

checkpoints = _table(
    "checkpoints",
    _run(),
    Column("start", BigInteger, primary_key=True),
    Column("stop", BigInteger, nullable=False),
    Column("shuffled", LargeBinary, nullable=False),  # float64, little endian, (stop - start, W)
)

# Counts of shuffled values, in place of checkpoints, of runs that are too long to keep the values.
tallies = _table(
    "tallies",
    _run(),
    Column("state", LargeBinary, nullable=False),  # .npz of integer counts and the values to compare with
)

# Provisional result of an unfinished run; deleted when the run ends, and in no backup.
provisional_results = _table(
    "provisional_results",
    _run(),
    Column("content", LargeBinary, nullable=False),  # JSON, deflated
)

# Number of times in a row that the process computing a run was lost before the run made progress.
losses = _table("losses", _run(), Column("count", Integer, nullable=False))

# Answers to further questions about a finished run: computed once, then kept with the run.
answers = _table(
    "answers",
    _run(),
    Column("name", ShortText(80), primary_key=True),
    Column("content", LargeBinary, nullable=False),  # JSON, deflated
)

# Share links, each to a run, or to a leaderboard as it was when the link was made.
links = _table(
    "links",
    Column("id", ShortText(32), primary_key=True),
    _project(),
    _run(nullable=True),
    Column("leaderboard", Text),
    Column("token_sha256", ShortText(64), nullable=False, unique=True),
    Column("label", Prose, nullable=False, default=""),
    Column("created_by", Prose, nullable=False, default=""),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double),
    Column("revoked_at", Double),
    Column("uses", BigInteger, nullable=False, default=0),
    Column("last_used_at", Double),
    Column("password", Text),  # its scrypt hash
    Column("max_uses", BigInteger),
    Column("small_groups", Boolean),  # true if they are shown; older links have null, which means false
    Index("ix_links_run_id", "run_id"),
    CheckConstraint("(run_id IS NULL) <> (leaderboard IS NULL)", name="ck_links_opens_one"),
)

# Current visits to links: a visitor who comes again meanwhile is neither counted nor asked for a password.
link_visits = _table(
    "link_visits",
    _link(),
    Column("visit", ShortText(64), primary_key=True),  # sha256 of token and the browser's cookie
    Column("began_at", Double, nullable=False),
    Index("ix_link_visits_began_at", "began_at"),
)

# Tries at links' passwords in the last quarter of an hour.
link_tries = _table(
    "link_tries",
    _link(),
    Column("who", ShortText(64), primary_key=True),  # sha256 of token and address; "" for all
    Column("since", Double, nullable=False),
    Column("tries", Integer, nullable=False),
)

# Personal tokens of the API.
tokens = _table(
    "tokens",
    Column("id", ShortText(32), primary_key=True),
    Column("token_sha256", ShortText(64), nullable=False, unique=True),
    Column("owner", Prose, nullable=False, default=""),
    Column("name", Prose, nullable=False),
    Column("scope", ShortText(8), nullable=False),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
    Column("revoked_at", Double),
    Column("last_used_at", Double),
    Index("ix_tokens_owner", "owner"),
)

# People's tokens for tools and databases, kept at their wish; the key that encrypts them is not here.
source_tokens = _table(
    "source_tokens",
    Column("owner", ShortText(255), primary_key=True),
    Column("site", ShortText(255), primary_key=True),  # the server that it opens
    Column("sealed", LargeBinary, nullable=False),
    Column("created_at", Double, nullable=False),
)

# Outcomes of API requests with an idempotency key, kept for a day.
outcomes = _table(
    "outcomes",
    Column("key", ShortText(64), primary_key=True),  # sha256 of person, address and key
    Column("request", ShortText(64), nullable=False),  # sha256 of the request's content
    Column("owner", Prose, nullable=False, default=""),  # to delete the row when the person is erased
    Column("status", Integer),  # null while the first one is being answered
    Column("body", Text),
    Column("created_at", Double, nullable=False),
)

# Number of times a person's webhook key was replaced; in backups, or else old keys would work again.
webhook_keys = _table(
    "webhook_keys",
    Column("owner", ShortText(255), primary_key=True),
    Column("number", Integer, nullable=False),
)

# Addresses to notify when a run ends; a row is kept until the message was sent or given up.
webhooks = _table(
    "webhooks",
    Column("id", ShortText(32), primary_key=True),
    _run(nullable=True),
    Column("owner", Prose, nullable=False, default=""),
    Column("url", Prose, nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("next_at", Double, nullable=False),
    Index("ix_webhooks_run_id", "run_id"),
)

watches = _table(
    "watches",
    Column("id", ShortText(32), primary_key=True),
    _project(),
    _optional_run("last_run_id"),  # new data are compared with its data; its spec is run again
    _optional_run("going_run_id"),  # the run of changed data, until it has ended
    Column("owner", Prose, nullable=False, default=""),
    Column("title", Prose, nullable=False),
    Column("sources", Text, nullable=False),  # JSON: location of each file
    Column("every", ShortText(80), nullable=False),
    Column("created_at", Double, nullable=False),
    Column("looked_at", Double),
    Column("next_at", Double, nullable=False),
    Column("lease_until", Double, nullable=False, default=0.0),  # end of the claim of the server that looks
    Column("failures", Integer, nullable=False, default=0),  # in a row
    Column("problem", Prose),  # why the last look failed
    Column("paused", ShortText(8)),  # the reason
    Column("paused_at", Double),
    Column("webhook", Text),  # address to notify when a run of changed data ends
    Index("ix_watches_next_at", "next_at"),
)

# Runs of a watch in order; the first is the one that was watched.
watch_runs = _table(
    "watch_runs",
    Column("watch_id", ShortText(32), ForeignKey("watches.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("added_at", Double, nullable=False),
    _run(nullable=True),
    Index("ix_watch_runs_run_id", "run_id"),
)

submissions = _table(
    "submissions",
    Column("id", ShortText(32), primary_key=True),
    _project(),
    Column("name", Prose, nullable=False),
    Column("owner", Prose, nullable=False, default=""),
    Column("created_at", Double, nullable=False),
    Column("sha256", ShortText(64), nullable=False),
    Column("scores", Text, nullable=False),  # without gold labels
    Column("predictions", LargeBinary, nullable=False),  # JSON, deflated
    UniqueConstraint("project_id", "owner", "sha256"),  # one row, even if sent twice, from two tabs
)

# Scored predictions, counted in all projects together; rows stay when a submission is deleted.
scorings = _table(
    "scorings",
    Column("id", ShortText(32), primary_key=True),
    Column("owner", Prose, nullable=False, default=""),
    Column("task", ShortText(128), nullable=False),
    Column(
        "sha256", ShortText(64), nullable=False
    ),  # of the predictions: the same ones are not counted twice
    Column("created_at", Double, nullable=False),
    Index("ix_scorings_task", "task"),
)

PASSING = frozenset(
    {
        *(provisional_results, losses, drafts),
        *(tokens, source_tokens, outcomes, webhooks, sessions, link_visits, link_tries),
    }
)
"""Tables that no backup contains: rows that are made again, and keys that must not work again."""
