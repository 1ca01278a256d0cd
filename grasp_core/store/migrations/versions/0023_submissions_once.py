"""Submissions: the same predictions of one person under one name stand on the leaderboard once."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

_SAME = ("project_id", "sha256", "owner", "name")


def upgrade() -> None:
    """Keep the first of those that are the same, and let there be no second one."""
    rows = sa.table("submissions", *map(sa.column, ("id", "created_at", *_SAME)))
    first = rows.alias()
    earlier = sa.or_(
        first.c.created_at < rows.c.created_at,
        (first.c.created_at == rows.c.created_at) & (first.c.id < rows.c.id),
    )
    same = (first.c[name] == rows.c[name] for name in _SAME)
    op.execute(rows.delete().where(sa.select(first.c.id).where(*same, earlier).exists()))
    with op.batch_alter_table("submissions") as submissions:
        submissions.create_unique_constraint(op.f("uq_submissions_project_id"), list(_SAME))
