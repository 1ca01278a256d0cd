"""Documents: answers about models and leaderboards, which links open as they do runs."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table, and let a link open a run or a document."""
    op.create_table(
        "documents",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_documents")),
        sa.UniqueConstraint("sha256", "owner", name=op.f("uq_documents_sha256")),
    )
    with op.batch_alter_table("links") as links:  # SQLite changes a column by making the table anew
        links.alter_column("run_id", existing_type=sa.String(length=32), nullable=True)
        links.add_column(sa.Column("document_id", sa.String(length=32), nullable=True))
        links.create_foreign_key(
            op.f("fk_links_document_id_documents"), "documents", ["document_id"], ["id"], ondelete="CASCADE"
        )
        links.create_check_constraint(op.f("ck_links_opens_one"), "(run_id IS NULL) <> (document_id IS NULL)")
        links.create_index("ix_links_document_id", ["document_id"])
