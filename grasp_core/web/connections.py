"""What a server's connections lack as they are made: answers that are sent at once, and heads with an end.

Where a listening socket is made without naming TCP as its protocol, asyncio does not switch off Nagle's
algorithm on the connections that it accepts, and each answer after the first on a connection waits some 40 ms
for the other side (Kludex/uvicorn#3149, and Streamlit's own binding). And uvicorn with httptools gathers a
request's line, or headers, that never end.
"""

from __future__ import annotations

import os
import socket
import stat

from starlette.status import HTTP_431_REQUEST_HEADER_FIELDS_TOO_LARGE
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_BYTES = 64 * 1024
"""As much as proxies let through, and all cookies of a site fit in."""
_REFUSED = (
    f"HTTP/1.1 {HTTP_431_REQUEST_HEADER_FIELDS_TOO_LARGE} Request Header Fields Too Large\r\n"
    "content-length: 0\r\nconnection: close\r\n\r\n"
).encode("ascii")
_IN_HEAD, _CAME = "_grasp_in_head", "_grasp_came"


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


def bound_heads() -> None:
    """Have connections from now on refuse longer heads, and end.

    The server has chosen its protocol by the time that it loads the app, so the protocol itself is changed.
    """
    begin, end, receive = (
        HttpToolsProtocol.on_message_begin,
        HttpToolsProtocol.on_headers_complete,
        HttpToolsProtocol.data_received,
    )

    def on_message_begin(self: HttpToolsProtocol) -> None:
        setattr(self, _IN_HEAD, True)
        begin(self)

    def on_headers_complete(self: HttpToolsProtocol) -> None:
        setattr(self, _IN_HEAD, False)
        end(self)

    def data_received(self: HttpToolsProtocol, data: bytes) -> None:
        receive(self, data)
        came = getattr(self, _CAME, 0) + len(data) if getattr(self, _IN_HEAD, False) else 0
        setattr(self, _CAME, came)
        if came > MOST_BYTES:
            self.transport.write(_REFUSED)
            self.transport.close()

    HttpToolsProtocol.on_message_begin = on_message_begin  # type: ignore[method-assign]
    HttpToolsProtocol.on_headers_complete = on_headers_complete  # type: ignore[method-assign]
    HttpToolsProtocol.data_received = data_received  # type: ignore[method-assign]
