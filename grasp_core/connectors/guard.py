"""Connections of this process, kept to admitted hosts, whichever library opens them.

What a name led to when it was admitted is what may be connected to, so that neither a redirect nor a name
that leads elsewhere the second time reaches anything else. For a process of its own: it cannot be undone.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from typing import Any

_FORBIDDEN = ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system")
_SENT = ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind")

Admits = Callable[[str, int], bool]
"""Whether a host may be asked at a port."""
refused: list[str] = []
"""Hosts that were asked for and not admitted; libraries change the errors that they get."""


class NotAdmittedError(PermissionError):
    """A connection that may not be."""


def keep_to(admits: Admits) -> None:
    """Let this process, from now on, connect to what `admits` says and start no other."""
    known: set[tuple[str, int]] = set()
    ask = socket.getaddrinfo

    def asked(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
        number = int(port) if str(port).isdecimal() else -1
        if not admits(name.casefold().rstrip("."), number):
            refused.append(name)
            raise NotAdmittedError(name)
        found = ask(host, port, *args, **kwargs)
        known.update((str(entry[4][0]), int(entry[4][1])) for entry in found)
        return found

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if event in _FORBIDDEN:
            raise NotAdmittedError(event)
        if event in _SENT:
            address = args[1]
            if address is None:  # of a connection that is there
                return
            if not isinstance(address, tuple) or tuple(address[:2]) not in known:
                refused.append(str(address[0] if isinstance(address, tuple) else "a socket of this machine"))
                raise NotAdmittedError

    socket.getaddrinfo = asked
    sys.addaudithook(watch)
