"""Webhooks: signed messages to an address that a run has ended, sent by any server."""

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import time
from contextlib import suppress
from datetime import UTC, datetime
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

from grasp_core.model.errors import DataError, SettingsError
from grasp_core.model.settings import Settings
from grasp_core.reading.sources import remote
from grasp_core.store.api_calls import Due, WebhookStore

log = logging.getLogger(__name__)

ANSWER_SECONDS = 15.0
"""Most seconds that a receiver may take to answer."""
BACKOFF_SECONDS = (5, 30, 120, 600, 3600, 6 * 3600, 12 * 3600, 24 * 3600)
"""Seconds before each further attempt; after the last one, the message is given up."""


class Webhooks:
    """Sends messages that are due, only to allowed addresses.

    Raises SettingsError if the allowed addresses or networks cannot be used.
    """

    def __init__(self, store: WebhookStore, settings: Settings) -> None:
        self._store = store
        self._secret = settings.webhook_secret.encode()
        self._public_url = settings.public_url
        try:
            self._prefixes = tuple(map(remote.parse, settings.webhook_urls))
            self._networks = tuple(map(ip_network, settings.webhook_networks))
        except DataError as error:
            raise SettingsError(f"GRASP_WEBHOOK_URLS: {error}") from None
        except ValueError:
            raise SettingsError("GRASP_WEBHOOK_NETWORKS must be networks like 10.2.0.0/16") from None

    def register(self, run_id: str, url: str, *, owner: str) -> None:
        """Notify an address when a run ends; raises DataError as :meth:`check`."""
        self._store.add(run_id, self.check(url), owner=owner)

    def check(self, url: str) -> str:
        """Return the address in its normal form; raises DataError if it is not allowed."""
        if not self._prefixes:
            raise DataError("this server sends no webhooks; whoever runs it can set GRASP_WEBHOOK_URLS")
        address = remote.parse(url.strip())
        if not any(address.below(prefix) for prefix in self._prefixes):
            known = " or ".join(prefix.url for prefix in self._prefixes)
            raise DataError(f"webhooks go to addresses below {known} alone")
        return address.url

    def keys(self, owner: str) -> list[str]:
        """Return the keys by which a person's receiver checks signatures: the newest, then the one before."""
        return ["whsec_" + base64.b64encode(key).decode("ascii") for key in self._keys(owner)]

    def roll(self, owner: str) -> None:
        """Make a new key for a person; the key before it stays valid, and earlier ones end."""
        self._store.roll_key(owner)

    def send_due(self) -> int:
        """Send the messages that are due now; returns how many were tried."""
        due = self._store.take()

        async def send() -> None:
            await asyncio.gather(*map(self._try, due))

        if due:
            asyncio.run(send())
        return len(due)

    async def _try(self, due: Due) -> None:
        try:
            status = await self._post(due)
        except Exception as error:  # a receiver may fail in any way; an address stays out of the log
            status, why = 0, type(error).__name__
        else:
            why = f"status {status}"
        if 200 <= status < 300:
            self._store.done(due.id)
        elif due.attempts < len(BACKOFF_SECONDS):
            self._store.later(due.id, BACKOFF_SECONDS[due.attempts])
        else:
            log.warning("webhook of run %s given up: %s", due.run_id, why)
            self._store.done(due.id)

    async def _post(self, due: Due) -> int:
        import aiohttp  # takes longer to load than a server may take to start

        may_reach, refused = self._may_reach, PermissionError("a private address")

        class Guarded(aiohttp.ThreadedResolver):
            """Resolves names to allowed addresses only: a name that leads into this network is a trick."""

            async def resolve(self, *host: Any, **how: Any) -> Any:
                found = await super().resolve(*host, **how)
                if not all(may_reach(one["host"]) for one in found):
                    raise refused
                return found

        url, now = self.check(due.url), str(int(time.time()))
        # No title and no rater data: a receiver who may see the run can ask for them.
        data: dict[str, Any] = {"id": due.run_id, "state": due.state}
        if self._public_url:
            data["address"] = f"{self._public_url}/results?run={due.run_id}"
        at = datetime.fromtimestamp(due.finished_at, UTC).isoformat()
        body = json.dumps({"type": "run.ended", "timestamp": at, "data": data}).encode("ascii")
        content = f"{due.id}.{now}.".encode() + body
        signed = (hmac.digest(key, content, "sha256") for key in self._keys(due.owner))
        with suppress(ValueError):  # a name: it is resolved
            if not may_reach(urlsplit(url).hostname or ""):
                raise refused
        headers = {
            "Content-Type": "application/json",
            "webhook-id": due.id,
            "webhook-timestamp": now,
            "webhook-signature": " ".join("v1," + base64.b64encode(one).decode("ascii") for one in signed),
        }
        limit = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
        async with (
            aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(resolver=Guarded()), timeout=limit
            ) as client,
            client.post(url, data=body, headers=headers, allow_redirects=False) as answer,
        ):
            return answer.status

    def _keys(self, owner: str) -> list[bytes]:
        newest = self._store.key_number(owner)
        found = []
        for number in range(newest, max(newest - 2, -1), -1):
            what = f"webhooks {number} of " if number else "webhooks of "
            found.append(hmac.digest(self._secret, (what + owner).encode("utf-8", "replace"), hashlib.sha256))
        return found

    def _may_reach(self, host: str) -> bool:
        """Return whether a host is a public address, or one in a network that the settings allow."""
        address: IPv4Address | IPv6Address = ip_address(host)
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        # IPv6 addresses that a gateway turns into IPv4 ones are not public: those in ::/8, and 6to4.
        public = address.is_global and not (address.is_multicast or address.is_reserved)
        if isinstance(address, IPv6Address) and (address.is_site_local or address.sixtofour is not None):
            public = False
        return public or any(address in network for network in self._networks)
