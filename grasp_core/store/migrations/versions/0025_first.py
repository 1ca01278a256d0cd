"""The first step: tables of 0.2.0 before its release. A new database gets today's tables at once."""

revision = "0025"
down_revision = None


def upgrade() -> None:
    """Do nothing: a database at this step has the tables."""
