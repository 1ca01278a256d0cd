"""Alembic's entry: migrate over the connection that `grasp_core.store.database` hands in."""

from alembic import context

from grasp_core.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
