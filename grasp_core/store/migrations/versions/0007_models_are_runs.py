"""Answers about models become runs, of the same id; leaderboards go into the links that open them."""

import sqlalchemy as sa
from alembic import op

from grasp_core.store.backup.earlier_documents import run_of

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_DOCUMENTS = sa.table("documents", *map(sa.column, ("id", "kind", "title", "owner", "created_at", "content")))
_LINKS = sa.table("links", *map(sa.column, ("run_id", "document_id", "leaderboard")))


def upgrade() -> None:
    """Move what documents hold, then drop them."""
    with op.batch_alter_table("links") as links:
        links.drop_constraint(op.f("ck_links_opens_one"), type_="check")
        links.add_column(sa.Column("leaderboard", sa.Text(), nullable=True))
    connection = op.get_bind()
    runs = sa.Table("runs", sa.MetaData(), autoload_with=connection)
    for document in connection.execute(sa.select(_DOCUMENTS)).mappings().all():
        theirs = _LINKS.update().where(_LINKS.c.document_id == document["id"])
        if document["kind"] == "models":
            connection.execute(runs.insert().values(run_of(dict(document))))
            connection.execute(theirs.values(run_id=document["id"]))
        else:
            connection.execute(theirs.values(leaderboard=document["content"]))
    with op.batch_alter_table("links") as links:
        links.drop_index("ix_links_document_id")
        links.drop_constraint(op.f("fk_links_document_id_documents"), type_="foreignkey")
        links.drop_column("document_id")
        links.create_check_constraint(op.f("ck_links_opens_one"), "(run_id IS NULL) <> (leaderboard IS NULL)")
    op.drop_table("documents")
