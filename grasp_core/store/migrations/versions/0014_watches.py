"""Watches and their feeds."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "watches",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("project_id", sa.String(length=32), nullable=False),
        sa.Column("last_run_id", sa.String(length=32), nullable=True),
        sa.Column("going_run_id", sa.String(length=32), nullable=True),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("sources", sa.Text(), nullable=False),
        sa.Column("every", sa.String(length=8), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("looked_at", sa.Double(), nullable=True),
        sa.Column("next_at", sa.Double(), nullable=False),
        sa.Column("lease_until", sa.Double(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("paused", sa.String(length=8), nullable=True),
        sa.Column("paused_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name=op.f("fk_watches_project_id_projects"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["last_run_id"], ["runs.id"], name=op.f("fk_watches_last_run_id_runs"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["going_run_id"], ["runs.id"], name=op.f("fk_watches_going_run_id_runs"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_watches")),
    )
    op.create_index("ix_watches_next_at", "watches", ["next_at"])
    op.create_table(
        "watch_runs",
        sa.Column("watch_id", sa.String(length=32), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("added_at", sa.Double(), nullable=False),
        sa.Column("run_id", sa.String(length=32), nullable=True),
        sa.ForeignKeyConstraint(
            ["watch_id"], ["watches.id"], name=op.f("fk_watch_runs_watch_id_watches"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_watch_runs_run_id_runs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("watch_id", "number", name=op.f("pk_watch_runs")),
    )
    op.create_index("ix_watch_runs_run_id", "watch_runs", ["run_id"])
    op.create_table(
        "feeds",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("project_id", sa.String(length=32), nullable=False),
        sa.Column("watch_id", sa.String(length=32), nullable=True),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("token_sha256", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("last_used_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_feeds_project_id_projects"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["watch_id"], ["watches.id"], name=op.f("fk_feeds_watch_id_watches"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feeds")),
        sa.UniqueConstraint("token_sha256", name=op.f("uq_feeds_token_sha256")),
    )
