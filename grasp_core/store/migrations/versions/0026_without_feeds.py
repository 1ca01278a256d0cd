"""Remove the addresses of feeds."""

from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    op.drop_table("feeds")
