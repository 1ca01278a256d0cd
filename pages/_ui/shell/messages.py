"""Messages by which tabs may ask Streamlit for more than running a page."""

from __future__ import annotations

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

ANSWERED = frozenset({"rerun_script", "stop_script", "app_heartbeat", "file_urls_request"})
"""Not: clearing every visitor's caches, the state of the repository, watching the code."""
OPERATIONS = frozenset({"deferred_file", "dataframe_chunk"})
"""Not: writing files for whoever develops with Streamlit."""


SMALL = 2**16
"""Bytes that each message has at most, but for what a page's widgets hold.

A larger one is not read here: of a few megabytes, made for it, hundreds would become in memory.
"""
_RERUN = BackMsg.RERUN_SCRIPT_FIELD_NUMBER << 3 | 2


class Messages:
    """ASGI middleware that drops messages which no page of ours sends.

    Parameters
    ----------
    app : ASGI application
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything else through."""

        async def receive_answered() -> Message:
            while True:
                message = await receive()
                if message["type"] != "websocket.receive" or _is_answered(message.get("bytes")):
                    return message

        await self.app(scope, receive_answered if scope["type"] == "websocket" else receive, send)


def _is_answered(content: bytes | None) -> bool:
    if content is not None and len(content) > SMALL:
        return _is_one_rerun(content)
    try:
        said = BackMsg.FromString(content or b"")
    except DecodeError:  # Streamlit closes the connection
        return True
    kind = said.WhichOneof("type")
    if kind == "backend_operation_request":
        return said.backend_operation_request.WhichOneof("payload") in OPERATIONS
    return kind is None or kind in ANSWERED


def _is_one_rerun(content: bytes) -> bool:
    """Whether a message has one field, which asks for a page: its tag, its length, and nothing behind."""
    size, at = 0, 1
    for at in range(1, 6):
        size |= (content[at] & 0x7F) << 7 * (at - 1)
        if content[at] < 0x80:
            break
    return content[0] == _RERUN and at + 1 + size == len(content)
