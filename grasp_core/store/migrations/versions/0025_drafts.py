"""Drafts of what is brought and chosen, and each run's result in one sentence."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table and the column; runs of before have no sentence."""
    op.create_table(
        "drafts",
        sa.Column("project_id", sa.String(length=32), nullable=False),
        sa.Column("owner", sa.String(length=64), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "owner", name=op.f("pk_drafts")),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name=op.f("fk_drafts_project_id_projects"),
            ondelete="CASCADE",
        ),
    )
    op.add_column("runs", sa.Column("verdict", sa.Text(), nullable=True))
