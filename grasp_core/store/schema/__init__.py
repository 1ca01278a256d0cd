"""The tables. Changes to them go through a migration in `migrations/versions`.

Times are seconds since 1970 (UTC) by the database's clock, the same for all servers. Documents (spec, result,
data summary) are JSON texts in ASCII that carry their own version; what people write is :class:`Line` or
:class:`Prose`.
"""

from __future__ import annotations

from grasp_core.store.schema.columns import Line, Prose, metadata, storable
from grasp_core.store.schema.people_tables import (
    addresses,
    audit,
    audit_heads,
    current_projects,
    people,
    project_members,
    projects,
    sessions,
)
from grasp_core.store.schema.run_tables import (
    answers,
    checkpoints,
    chunks,
    drafts,
    files,
    link_tries,
    link_visits,
    links,
    losses,
    provisional_results,
    readings,
    run_files,
    runs,
    tags,
    tallies,
)
from grasp_core.store.schema.work_tables import (
    outcomes,
    scorings,
    source_tokens,
    submissions,
    tokens,
    watch_runs,
    watches,
    webhook_keys,
    webhooks,
)

__all__ = [
    "PASSING",
    "Line",
    "Prose",
    "addresses",
    "answers",
    "audit",
    "audit_heads",
    "checkpoints",
    "chunks",
    "current_projects",
    "drafts",
    "files",
    "link_tries",
    "link_visits",
    "links",
    "losses",
    "metadata",
    "outcomes",
    "people",
    "project_members",
    "projects",
    "provisional_results",
    "readings",
    "run_files",
    "runs",
    "scorings",
    "sessions",
    "source_tokens",
    "storable",
    "submissions",
    "tags",
    "tallies",
    "tokens",
    "watch_runs",
    "watches",
    "webhook_keys",
    "webhooks",
]

PASSING = frozenset(
    {
        *(provisional_results, losses, drafts),
        *(tokens, source_tokens, outcomes, webhooks, sessions, link_visits, link_tries),
    }
)
"""Tables that no backup holds: what is found anew, and keys that would come back to life."""
