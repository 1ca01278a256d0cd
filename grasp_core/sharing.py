"""Share links: what the audit log tells of them, and many withdrawn at once; for pages, API and commands."""

from __future__ import annotations

from dataclasses import dataclass

from grasp_core.model.access import User, actor_of
from grasp_core.model.errors import AccessError
from grasp_core.store.links import LinkStore, Terms
from grasp_core.store.people.audit import AuditStore


def told_of(terms: Terms) -> dict[str, str | int | float | bool | None]:
    """Terms of a link as the audit log has them: neither label nor password."""
    return {
        "days": terms.get("days"),
        "password": terms.get("password") is not None,
        "uses": terms.get("max_uses"),
        "small groups": terms.get("small_groups", False),
    }


@dataclass(frozen=True, slots=True)
class Withdrawing:
    """Links that are withdrawn together.

    Parameters
    ----------
    links : LinkStore
        Those within somebody's reach.
    """

    links: LinkStore
    audit: AuditStore

    def of_run(self, run_id: str, *, by: User | None) -> int:
        """Withdraw all links to a run; returns how many worked. `by` None is whoever has the database.

        Whether `by` may is asked before: they manage the run.
        """
        withdrawn = self.links.revoke_of_run(run_id)
        self.audit.record(actor_of(by), "withdraw", "run's links", run_id, {"links": withdrawn})
        return withdrawn

    def of_person(self, person_id: str, *, by: User | None) -> int:
        """Withdraw all links that a person made; returns as :meth:`of_run`.

        Raises
        ------
        AccessError
            If they are another person's and `by` is no admin.
        """
        if by is not None and by.id != person_id and not by.may_administer:
            raise AccessError("Only an admin may withdraw links that others made.")
        withdrawn = self.links.revoke_of_person(person_id)
        self.audit.record(actor_of(by), "withdraw", "person's links", person_id, {"links": withdrawn})
        return withdrawn
