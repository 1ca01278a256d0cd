"""Give watches an address to notify when one of their runs ends."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    op.add_column("watches", sa.Column("webhook", sa.Text()))
