"""Addresses that webhooks may reach: a name is asked once, and what it led to is what is connected to."""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import ip_address
from urllib.parse import urlsplit

from aiohttp import ThreadedResolver
from aiohttp.abc import AbstractResolver, ResolveResult


class Guarded(AbstractResolver):
    """Resolves names to allowed addresses alone.

    Parameters
    ----------
    allowed : callable
        Whether an IP address may be connected to.
    """

    def __init__(self, allowed: Callable[[str], bool]) -> None:
        self._allowed = allowed
        self._asked = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Addresses of a host.

        Raises
        ------
        PermissionError
            If one of them is not allowed: a name that leads into this network is somebody's trick.
        """
        found = await self._asked.resolve(host, port, family)
        for one in found:
            self._check(one["host"])
        return found

    async def close(self) -> None:
        """Nothing is held."""
        await self._asked.close()

    def check_literal(self, url: str) -> None:
        """As :meth:`resolve`, of an address that names no host but an IP address: it is not resolved."""
        host = urlsplit(url).hostname or ""
        try:
            ip_address(host)
        except ValueError:
            return
        self._check(host)

    def _check(self, host: str) -> None:
        if not self._allowed(host):
            raise PermissionError("a private address")
