"""Give watches an address to notify when one of their runs ends."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("watches", sa.Column("webhook", sa.Text()))
