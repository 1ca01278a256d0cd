"""Let a watch look at the times of a cron line."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the column long enough for one."""
    with op.batch_alter_table("watches") as table:
        table.alter_column("every", type_=sa.String(80), existing_nullable=False)
