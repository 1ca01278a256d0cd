"""A run belongs to each who asked: the same question may be asked once by each person of a project."""

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Let a project hold runs of the same question, of one person each."""
    with op.batch_alter_table("runs") as runs:
        runs.drop_constraint(op.f("uq_runs_project_id"), type_="unique")
        runs.create_unique_constraint(op.f("uq_runs_project_id"), ["project_id", "key", "owner"])
