"""Uploads that no page takes up, on a real server below a path: bounded, counted, and dropped."""

import time

import httpx
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from pages._ui.helpers import sessions as waiting
from tests.server.served.conftest import QUOTA_MB, SOONER
from tests.server.tabs import XSRF, tab
from tests.serving import READY_S, Served, memory_of

EACH = 20_000_000
SMALL = b'{"format": "grasp-run", this is no saved result'


def memory_at_rest(url: str) -> float:
    """Memory once the server has loaded what it loads beside its first answers."""
    last = [0.0]
    while max(last) - min(last) > 2**20 or len(last) < 5:
        time.sleep(0.5)
        last = [*last[-4:], memory_of(url)]
    return last[-1]


@pytest.mark.long
def test_what_nobody_takes_up_is_bounded_and_gone_within_a_minute(served: Served) -> None:
    assert waiting.UNUSED_SECONDS + waiting.LOOK_SECONDS < 60
    content = bytes(range(256)) * (EACH // 256)
    with tab(served.url) as held, tab(served.url) as hostile:
        assert held.upload(SMALL, "result.json").status_code == 204
        held.show("", held.holding("result.json"))
        assert "this is not JSON" in held.alerts()[0]
        before = memory_at_rest(served.url)
        answers = [hostile.upload(content, f"file {number}") for number in range(10)]
        last = time.monotonic()
        grown = memory_of(served.url) - before
        kept = [answer.status_code for answer in answers].count(204)
        assert kept == QUOTA_MB * 2**20 // EACH
        assert {answer.status_code for answer in answers} == {204, 503}
        assert int(answers[-1].headers["Retry-After"]) > 0
        assert grown < (QUOTA_MB + 40) * 2**20, f"{grown / 2**20:.0f} MiB"
        while hostile.upload(content, "one more").status_code != 204:
            assert time.monotonic() - last < 60 / SOONER
            time.sleep(0.2)
        assert memory_of(served.url) - before < 2.5 * EACH
        held.show("", held.holding("result.json"))  # what a widget holds was there all the time
        assert "this is not JSON" in held.alerts()[0]


def test_only_sessions_that_there_are_may_upload(served: Served) -> None:
    with tab(served.url) as one:
        assert one.upload(SMALL, session="made-up").status_code == 400
        one.web.cookies.clear()
        refused = one.web.put(f"/_stcore/upload_file/{one.session}/x", files={"file": SMALL})
        assert refused.status_code == 403


def test_the_token_against_forged_requests_keeps_to_the_path(served: Served) -> None:
    told = httpx.get(f"{served.url}/_stcore/health", timeout=READY_S).headers["Set-Cookie"]
    assert told.startswith(XSRF)
    assert "; Path=/grasp;" in told


def test_no_page_around_this_one_may_send_it_messages(served: Served) -> None:
    assert httpx.get(f"{served.url}/_stcore/host-config", timeout=READY_S).json()["allowedOrigins"] == []


def test_windows_of_other_sites_are_no_windows_of_ours(served: Served) -> None:
    for path in ("/", "/_stcore/health", "/api/health", "/media/x"):
        headers = httpx.get(served.url + path, timeout=READY_S).headers
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert "no-" in headers["Cache-Control"]


def test_a_stranger_clears_no_cache_and_no_visit(served: Served) -> None:
    with tab(served.url) as one:
        one.upload(SMALL, "kept.json")
        one.show("", one.holding("kept.json"))
        for message in (BackMsg(clear_cache=True), BackMsg(load_git_info=True)):
            one.say(message)
        asking = BackMsg()
        asking.backend_operation_request.request_id = "1"
        asking.backend_operation_request.session_id = one.session
        asking.backend_operation_request.install_skills.SetInParent()
        one.say(asking)
        one.say(BackMsg(app_heartbeat=True))
        kinds = []
        while "heartbeat_ack" not in kinds:
            data = one.socket.recv(20)
            assert isinstance(data, bytes)
            kinds.append(ForwardMsg.FromString(data).WhichOneof("type"))
        assert set(kinds) <= {"heartbeat_ack", "session_status_changed"}


def test_a_message_made_to_grow_is_refused_before_it_is_read(served: Served) -> None:
    """Empty widgets of two bytes each: of 20 MB, 0.6 GB would become."""
    widgets = b"\x0a\x00" * 10_000_000
    state = b"\x12" + _length(widgets) + widgets
    before = memory_of(served.url)
    with tab(served.url) as one:
        assert BackMsg.FromString(b"\x5a\x04\x12\x02\x0a\x00").rerun_script.widget_states.widgets
        one.socket.send(b"\x5a" + _length(state) + state)
        with pytest.raises(ConnectionClosed, match="1009"):
            _wait(one.socket)
    assert memory_of(served.url) - before < 150 * 2**20


def _wait(socket: ClientConnection) -> None:
    while True:
        socket.recv(20)


def _length(content: bytes) -> bytes:
    """As protocol buffers write it: seven bits a byte, the lowest first."""
    size, told = len(content), bytearray()
    while size > 127:
        told.append(size & 127 | 128)
        size >>= 7
    return bytes([*told, size])
