"""Projects, who sees them as what, and which one a person works in."""

from __future__ import annotations

from sqlalchemy import Column, Double, Table

from grasp_core.store.schema.columns import Line, Prose, metadata, project_reference

# Names need not differ: a name that is taken would tell of a project that one does not see.
projects = Table(
    "projects",
    metadata,
    Column("id", Line(32), primary_key=True),
    Column("name", Prose, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("archived_at", Double),  # nothing is added to it from then on
)

# Who sees a project, and as what; there is no row of those who see everybody's.
project_members = Table(
    "project_members",
    metadata,
    project_reference(primary_key=True),
    Column("kind", Line(16), primary_key=True),  # person, address, domain or group
    Column("name", Line(320), primary_key=True),
    Column("role", Line(16), nullable=False),
)

# The project that a person works in, for their next visit.
current_projects = Table(
    "current_projects",
    metadata,
    Column("person", Line(320), primary_key=True),
    project_reference(),
)
