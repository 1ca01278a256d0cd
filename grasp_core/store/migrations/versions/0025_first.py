"""The tables of 0.2.0 before its release, where steps begin; a new database gets today's tables at once."""

revision = "0025"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing: a database at this step has them."""
