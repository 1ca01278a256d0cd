"""Keep the same predictions of a person only once in a project, whatever their names."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"

_KEY = "uq_submissions_project_id"


def upgrade() -> None:
    op.execute(
        sa.text(
            "DELETE FROM submissions WHERE EXISTS (SELECT 1 FROM submissions AS other"
            " WHERE other.project_id = submissions.project_id AND other.owner = submissions.owner"
            " AND other.sha256 = submissions.sha256 AND (other.created_at > submissions.created_at"
            " OR (other.created_at = submissions.created_at AND other.id > submissions.id)))"
        )
    )
    with op.batch_alter_table("submissions") as table:
        table.drop_constraint(_KEY, type_="unique")
        table.create_unique_constraint(_KEY, ["project_id", "owner", "sha256"])
