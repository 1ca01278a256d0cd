"""Sources of files, and kept tokens of tools and databases."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, create the table."""
    op.add_column("files", sa.Column("source", sa.Text(), nullable=True))
    op.create_table(
        "source_tokens",
        sa.Column("owner", sa.String(length=255), nullable=False),
        sa.Column("site", sa.String(length=255), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "site", name=op.f("pk_source_tokens")),
    )
