"""Feeds that end with the personal token by which they were made."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; feeds of before are nobody's token's."""
    with op.batch_alter_table("feeds") as feeds:
        feeds.add_column(sa.Column("made_by_token", sa.String(length=32), nullable=True))
        feeds.create_foreign_key(
            op.f("fk_feeds_made_by_token_tokens"), "tokens", ["made_by_token"], ["id"], ondelete="CASCADE"
        )
