"""When watches look may be a cron line."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Leave room for it."""
    with op.batch_alter_table("watches") as table:
        table.alter_column("every", type_=sa.String(80), existing_nullable=False)
