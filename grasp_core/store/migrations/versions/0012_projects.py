"""Projects: what exists belongs to "Everyone"; the same question and file may be in several."""

import sqlalchemy as sa
from alembic import op
from alembic.operations.base import BatchOperations

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_EVERYONE = "everyone"
_PROJECTS = sa.table("projects", *map(sa.column, ("id", "name", "created_at")))


def upgrade() -> None:
    """Create the tables, and say of everything whose it is."""
    _create()
    clock = (
        "extract(epoch FROM now())"
        if op.get_bind().dialect.name == "postgresql"
        else "(julianday('now') - 2440587.5) * 86400.0"
    )
    now: sa.ColumnClause[float] = sa.literal_column(clock)
    op.execute(_PROJECTS.insert().values(id=_EVERYONE, name="Everyone", created_at=now))
    for name in ("runs", "files", "chunks", "readings", "submissions", "links"):
        op.add_column(name, sa.Column("project_id", sa.String(length=32), nullable=True))
        op.execute(sa.table(name, sa.column("project_id")).update().values(project_id=_EVERYONE))
    with op.batch_alter_table("chunks") as chunks:
        chunks.drop_constraint(op.f("fk_chunks_sha256_files"), type_="foreignkey")
        chunks.drop_constraint(op.f("pk_chunks"), type_="primary")
        chunks.alter_column("project_id", existing_type=sa.String(length=32), nullable=False)
        chunks.create_primary_key(op.f("pk_chunks"), ["project_id", "sha256", "position"])
    with op.batch_alter_table("files") as files:
        files.drop_constraint(op.f("pk_files"), type_="primary")
        _belong(files, "files")
        files.create_primary_key(op.f("pk_files"), ["project_id", "sha256"])
    with op.batch_alter_table("chunks") as chunks:
        chunks.create_foreign_key(
            op.f("fk_chunks_project_id_files"),
            "files",
            ["project_id", "sha256"],
            ["project_id", "sha256"],
            ondelete="CASCADE",
        )
    with op.batch_alter_table("runs") as runs:
        runs.drop_constraint(op.f("uq_runs_key"), type_="unique")
        _belong(runs, "runs")
        runs.create_unique_constraint(op.f("uq_runs_project_id"), ["project_id", "key"])
    for name in ("readings", "submissions", "links"):
        with op.batch_alter_table(name) as table:
            _belong(table, name)


def _create() -> None:
    op.create_table(
        "projects",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("archived_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
    )
    op.create_table(
        "project_members",
        sa.Column("project_id", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=320), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name=op.f("fk_project_members_project_id_projects"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project_id", "kind", "name", name=op.f("pk_project_members")),
    )
    op.create_table(
        "current_projects",
        sa.Column("person", sa.String(length=320), nullable=False),
        sa.Column("project_id", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name=op.f("fk_current_projects_project_id_projects"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("person", name=op.f("pk_current_projects")),
    )


def _belong(table: BatchOperations, name: str) -> None:
    """Let each row belong to a project, and go with it."""
    table.alter_column("project_id", existing_type=sa.String(length=32), nullable=False)
    table.create_foreign_key(
        op.f(f"fk_{name}_project_id_projects"), "projects", ["project_id"], ["id"], ondelete="CASCADE"
    )
