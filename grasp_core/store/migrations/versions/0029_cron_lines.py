"""Let a watch look at the times of a cron line."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    with op.batch_alter_table("watches") as table:
        table.alter_column("every", type_=sa.String(80), existing_nullable=False)
