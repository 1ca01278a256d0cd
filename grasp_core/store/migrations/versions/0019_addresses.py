"""Who holds which mail address."""

import sqlalchemy as sa
from alembic import op

from grasp_core.store.backup.earlier_addresses import hold_first

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table; of people with one address, who signed in first holds it."""
    op.create_table(
        "addresses",
        sa.Column("address", sa.String(length=320), nullable=False),
        sa.Column("person_id", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["person_id"], ["people.id"], name=op.f("fk_addresses_person_id_people"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("address", name=op.f("pk_addresses")),
    )
    op.create_index(op.f("ix_addresses_person_id"), "addresses", ["person_id"], unique=False)
    hold_first(op.get_bind())
