"""Outcomes of requests say whose they are."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; outcomes of before are nobody's, and gone within a day."""
    op.add_column("outcomes", sa.Column("owner", sa.Text(), server_default="", nullable=False))
