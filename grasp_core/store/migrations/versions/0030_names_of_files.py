"""Keep the name under which a file was brought."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    op.add_column("files", sa.Column("name", sa.Text()))
