"""Where a person stands in the tables: what takes their data away and erases them asks this list.

A test holds the list against the tables: a column that names people by another table stands here, too.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from grasp_core.store.schema import (
    addresses,
    audit,
    current_projects,
    drafts,
    files,
    links,
    outcomes,
    project_members,
    readings,
    runs,
    scorings,
    sessions,
    source_tokens,
    submissions,
    tokens,
    watches,
    webhook_keys,
    webhooks,
)

Trace = sa.Column[Any]
IN_PROJECTS: tuple[Trace, ...] = (
    runs.c.owner,
    files.c.owner,
    readings.c.owner,
    submissions.c.owner,
    links.c.created_by,
    watches.c.owner,
)
"""Of what belongs to a project: it is handed over, or deleted."""
THEIR_OWN: tuple[Trace, ...] = (
    scorings.c.owner,
    tokens.c.owner,
    source_tokens.c.owner,
    webhooks.c.owner,
    webhook_keys.c.owner,
    outcomes.c.owner,
    current_projects.c.person,
    sessions.c.person_id,
    drafts.c.owner,
    addresses.c.person_id,
    addresses.c.address,
)
"""Of what is nobody's without them: it is deleted."""
MEMBER: Trace = project_members.c.name
"""By `kind`: a person's id, a mail address, or none of one person."""
IN_THE_LOG: tuple[Trace, ...] = (audit.c.actor, audit.c.object_id)
"""They stay; once the person is erased, nothing tells any more whose the id was."""
