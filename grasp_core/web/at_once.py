"""Answers that are sent at once: the server's socket is bound in a way that has them wait.

Where a listening socket is made without naming TCP as its protocol, asyncio does not switch off Nagle's
algorithm on the connections that it accepts, and each answer after the first on a connection waits some 40 ms
for the other side (Kludex/uvicorn#3149, and Streamlit's own binding).
"""

from __future__ import annotations

import os
import socket
import stat


def send_at_once() -> None:
    """Have every listening socket of this process hand ``TCP_NODELAY`` on to what it accepts from now on."""
    for name in os.listdir("/dev/fd"):
        number = int(name)
        try:
            if not stat.S_ISSOCK(os.fstat(number).st_mode):
                continue
            with socket.socket(fileno=os.dup(number)) as found:
                if found.family in (socket.AF_INET, socket.AF_INET6) and _listens(found):
                    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:  # closed meanwhile, as the folder's own
            continue


def _listens(found: socket.socket) -> bool:
    return bool(found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
