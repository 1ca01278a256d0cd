"""What receivers of webhooks need."""

from __future__ import annotations

from fastapi import APIRouter

from grasp_core.server.api._admission import Asking
from grasp_core.server.api.forms import WebhookKey

router = APIRouter(tags=["Webhooks"])


@router.get("/webhooks/key")
def read_key(asking: Asking) -> WebhookKey:
    """The keys by which your receivers check that a message is this server's (Standard Webhooks).

    Who has a key can sign messages, so it takes a token with the scope run.
    """
    asking.changing()
    return _keys(asking)


@router.post("/webhooks/key")
def roll_key(asking: Asking) -> WebhookKey:
    """Make a new key. The one before stays valid beside it until the next is made; earlier ones end."""
    asking.changing()
    asking.server.webhooks.roll(asking.person.id)
    asking.server.audit.record(asking.person.id, "change", "webhook key")
    return _keys(asking)


def _keys(asking: Asking) -> WebhookKey:
    key, *previous = asking.server.webhooks.keys(asking.person.id)
    return WebhookKey(key=key, previous=previous[0] if previous else None)
