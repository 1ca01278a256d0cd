from __future__ import annotations

import socket

import pytest

from grasp_core.server.gate import send_at_once


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_what_is_accepted_sends_at_once(family: socket.AddressFamily) -> None:
    """Of a socket that is bound as Streamlit binds it: without the protocol by which asyncio decides."""
    with socket.socket(family) as listening, socket.socket(family) as visitor:
        try:
            listening.bind(("::1" if family == socket.AF_INET6 else "127.0.0.1", 0))
        except OSError:
            pytest.skip("this machine has no such addresses")
        listening.listen()
        send_at_once()
        visitor.connect(listening.getsockname())
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
