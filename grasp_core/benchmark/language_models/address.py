"""Where an endpoint is, and the key that it is sent."""

from __future__ import annotations

import ipaddress
import os
import re
from urllib.parse import urlsplit

from grasp_core.errors import SpecError
from grasp_core.wording import quoted


def checked(url: str) -> str:
    """The host of an endpoint's address.

    Raises
    ------
    SpecError
        If it is no web address, or one with a name, password or query in it.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        host = None
    if host is None or parts.scheme not in ("http", "https"):
        raise SpecError("The endpoint must be an address such as http://localhost:8000/v1 or https://...")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise SpecError(
            "The endpoint's address must hold no name, password or query: put the key into an environment "
            "variable and name that with --key-variable"
        )
    return host


def key_for(variable: str | None, url: str, host: str) -> str:
    """The key in an environment variable; a word where none is needed, since the library insists on one.

    Raises
    ------
    SpecError
        If the variable holds none, or it would travel unencrypted.
    """
    if variable is None:
        return "unused"
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable):
        raise SpecError("--key-variable takes the name of an environment variable, not the key itself")
    key = os.environ.get(variable, "").strip()
    if not key:
        raise SpecError(f"The environment variable {variable} is empty: put the endpoint's key there")
    if not (key.isascii() and key.isprintable()):
        raise SpecError(f"The environment variable {variable} holds no key: there are characters no key has")
    if urlsplit(url).scheme != "https" and not _on_this_machine(host):
        raise SpecError(
            f"The key in {quoted(variable)} would be sent unencrypted: take an address with https://"
        )
    return key


def _on_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
