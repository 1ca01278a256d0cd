"""Runs, their files and links."""

from __future__ import annotations

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
    Table,
    Text,
    UniqueConstraint,
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
