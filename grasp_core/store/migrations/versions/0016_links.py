"""Passwords, numbers of uses and small groups of share links; visits, and tries at passwords."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns and tables; links that there are show no small groups."""
    op.add_column("links", sa.Column("password", sa.Text()))
    op.add_column("links", sa.Column("max_uses", sa.BigInteger()))
    op.add_column("links", sa.Column("small_groups", sa.Boolean()))
    op.create_table(
        "link_visits",
        sa.Column("link_id", sa.String(length=32), nullable=False),
        sa.Column("visit", sa.String(length=64), nullable=False),
        sa.Column("began_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["link_id"], ["links.id"], name=op.f("fk_link_visits_link_id_links"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("link_id", "visit", name=op.f("pk_link_visits")),
    )
    op.create_index("ix_link_visits_began_at", "link_visits", ["began_at"])
    op.create_table(
        "link_tries",
        sa.Column("link_id", sa.String(length=32), nullable=False),
        sa.Column("who", sa.String(length=64), nullable=False),
        sa.Column("since", sa.Double(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["link_id"], ["links.id"], name=op.f("fk_link_tries_link_id_links"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("link_id", "who", name=op.f("pk_link_tries")),
    )
