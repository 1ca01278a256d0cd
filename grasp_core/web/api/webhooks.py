"""What receivers of webhooks need."""

from __future__ import annotations

from fastapi import APIRouter

from grasp_core.web.api.admission import Asking
from grasp_core.web.api.forms import WebhookKey

router = APIRouter(tags=["Webhooks"])


@router.get("/webhooks/key")
def read_key(asking: Asking) -> WebhookKey:
    """The key by which your receivers check that a message is this server's (Standard Webhooks)."""
    return WebhookKey(key=asking.server.webhooks.key(asking.person.id))
