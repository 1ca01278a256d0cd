"""The audit log's head: newest entries that are deleted are missed."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table; a log of before has a head once the next entry is added."""
    op.create_table(
        "audit_heads",
        sa.Column("log", sa.String(length=8), nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("seal", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("log", name=op.f("pk_audit_heads")),
    )
