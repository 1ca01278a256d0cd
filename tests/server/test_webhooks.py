"""Webhooks on both databases and a real receiver: signed, tried again, kept out of private networks."""

import base64
import hmac
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from sqlalchemy import Engine

from grasp_core.model.errors import DataError, SettingsError
from grasp_core.model.settings import Settings, read_settings
from grasp_core.server.webhooks import BACKOFF_SECONDS, Webhooks
from grasp_core.store.api_calls import WebhookStore
from grasp_core.store.runs import RunStore
from grasp_core.store.schema import webhooks
from tests.store.both import on_both
from tests.store.conftest import engine, new_database, postgres  # noqa: F401
from tests.store.making import change, claim, create

SECRET = "a random text of 32 characters or more"
LOOPBACK = ("127.0.0.0/8", "::1/128")


@dataclass
class Receiver:
    url: str
    answers: list[int] = field(default_factory=list)
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.got.append((dict(self.headers), body))
            self.send_response(found.answers.pop(0) if found.answers else 204)
            self.send_header("Location", f"{found.url}elsewhere")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    served = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = Receiver(f"http://127.0.0.1:{served.server_port}/")
    thread = threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield found
    served.shutdown()
    served.server_close()
    thread.join()


def sender(engine: Engine, receiver: Receiver, **changes: Any) -> Webhooks:  # noqa: F811
    given = {"webhook_urls": (receiver.url,), "webhook_networks": LOOPBACK, "webhook_secret": SECRET}
    return Webhooks(WebhookStore(engine), Settings(**{**given, **changes}))


def ended(engine: Engine, question: str = "a question") -> str:  # noqa: F811
    store = RunStore(engine)
    run = create(store, question)
    store.finish(claim(store), "failed", error="rater 4711")
    return run.id


def waiting(engine: Engine) -> list[Any]:  # noqa: F811
    with engine.connect() as connection:
        return list(connection.execute(webhooks.select()))


def test_a_message_is_signed_and_tells_nothing_of_the_data(engine: Engine, receiver: Receiver) -> None:  # noqa: F811
    sending = sender(engine, receiver, public_url="https://grasp.example")
    store = RunStore(engine)
    run = create(store)
    sending.register(run.id, f"{receiver.url}hook", owner="ann")
    assert sending.send_due() == 0, "the run goes on"
    store.finish(claim(store), "failed", error="rater 4711")
    assert sending.send_due() == 1
    ((headers, body),) = receiver.got
    told = json.loads(body)
    assert told["type"] == "run.ended"
    assert told["data"] == {
        "id": run.id,
        "state": "failed",
        "address": f"https://grasp.example/results?run={run.id}",
    }
    (key,) = sending.keys("ann")
    assert headers["webhook-signature"] == signature(key, headers, body)
    assert abs(int(headers["webhook-timestamp"]) - time.time()) < 60
    assert sending.keys("bob") != sending.keys("ann")
    assert waiting(engine) == []
    assert sending.send_due() == 0


def test_a_key_rolls_and_two_are_valid_at_a_time(engine: Engine, receiver: Receiver) -> None:  # noqa: F811
    sending = sender(engine, receiver)
    keys = sending.keys("ann")
    others = sending.keys("bob")
    for number in range(3):
        sending.register(ended(engine, f"question {number}"), receiver.url, owner="ann")
        assert sending.send_due() == 1
        headers, body = receiver.got[-1]
        assert sending.keys("ann") == keys[:2]
        assert headers["webhook-signature"].split(" ") == [signature(one, headers, body) for one in keys[:2]]
        sending.roll("ann")
        keys = [sending.keys("ann")[0], *keys]
    assert len(set(keys)) == 4
    assert sending.keys("bob") == others


def signature(key: str, headers: Any, body: bytes) -> str:
    """As Standard Webhooks has it."""
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    secret = base64.b64decode(key.removeprefix("whsec_"))
    return "v1," + base64.b64encode(hmac.digest(secret, signed, "sha256")).decode()


def test_what_fails_is_tried_again_and_given_up_at_last(engine: Engine, receiver: Receiver) -> None:  # noqa: F811
    sending = sender(engine, receiver)
    sending.register(ended(engine), receiver.url, owner="ann")
    receiver.answers = [500, 302, 404]
    for attempt in range(3):
        assert sending.send_due() == 1
        (row,) = waiting(engine)
        assert row.attempts == attempt + 1
        assert sending.send_due() == 0, "not before its time"
        change(engine, webhooks, next_at=0.0)
    assert {headers["webhook-id"] for headers, _ in receiver.got} == {row.id}
    assert sending.send_due() == 1
    assert waiting(engine) == []
    assert len(receiver.got) == 4, "a redirect was followed"
    sending.register(ended(engine), receiver.url, owner="ann")
    receiver.answers = [500] * 20
    for _ in BACKOFF_SECONDS:
        change(engine, webhooks, next_at=0.0)
        assert sending.send_due() == 1
    change(engine, webhooks, next_at=0.0)
    assert sending.send_due() == 1
    assert waiting(engine) == []


def test_what_is_a_public_address(engine: Engine, receiver: Receiver) -> None:  # noqa: F811
    public = ("93.184.216.34", "2606:4700::1111", "::ffff:93.184.216.34")
    private = (
        *("127.0.0.1", "10.1.2.3", "169.254.169.254", "240.0.0.1", "224.0.0.1"),
        *("::1", "fe80::1", "fd00::1", "fec0::1", "ff0e::1", "::ffff:10.1.2.3"),
        *("64:ff9b::7f00:1", "64:ff9b:1::a01:203", "2002:7f00:1::", "::10.1.2.3"),
    )
    sending = sender(engine, receiver, webhook_networks=("192.0.2.0/24",))
    assert [one for one in (*public, *private) if sending._may_reach(one)] == list(public)


def test_private_addresses_are_not_reached(engine: Engine, receiver: Receiver) -> None:  # noqa: F811
    port = receiver.url.rstrip("/").rpartition(":")[2]
    named = f"http://localhost:{port}/"
    for address in (receiver.url, named):
        sending = sender(engine, receiver, webhook_urls=(address,), webhook_networks=("10.0.0.0/8",))
        sending.register(ended(engine), address, owner="ann")
        assert sending.send_due() == 1
        assert receiver.got == []
    change(engine, webhooks, next_at=0.0)
    allowed = sender(engine, receiver, webhook_urls=(receiver.url, named))
    assert allowed.send_due() == 2
    assert len(receiver.got) == 2


def test_other_addresses_are_refused(engine: Engine, receiver: Receiver) -> None:  # noqa: F811
    hooks = f"{receiver.url}hooks/"
    sending, run_id = sender(engine, receiver, webhook_urls=(hooks,)), ended(engine)
    foreign = ("https://evil.example/", "file:///etc/passwd", "x", "http://127.0.0.1:1/")
    for url in (*foreign, *(f"{hooks}{more}" for more in ("../x", "?a=b", "%2e%2e/"))):
        with pytest.raises(DataError):
            sending.register(run_id, url, owner="ann")
    assert waiting(engine) == []


def test_a_prefix_that_is_taken_back_is_told_nothing_more(engine: Engine, receiver: Receiver) -> None:  # noqa: F811
    sender(engine, receiver).register(ended(engine), receiver.url, owner="ann")
    assert sender(engine, receiver, webhook_urls=("https://other.example/",)).send_due() == 1
    assert receiver.got == []


@on_both
def test_two_servers_send_once(engine: Engine, receiver: Receiver) -> None:  # noqa: F811
    one, other = sender(engine, receiver), sender(engine, receiver)
    one.register(ended(engine), receiver.url, owner="ann")
    threads = [threading.Thread(target=sending.send_due) for sending in (one, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(receiver.got) == 1


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"GRASP_WEBHOOK_URLS": "https://hooks.example/"}, "GRASP_WEBHOOK_SECRET"),
        ({"GRASP_WEBHOOK_URLS": "http://hooks.example/", "GRASP_WEBHOOK_SECRET": SECRET}, "https"),
    ],
)
def test_settings_that_would_send_unsigned_or_in_the_clear_are_refused(environment, sentence) -> None:
    with pytest.raises(SettingsError, match=sentence):
        read_settings(environment)


@pytest.mark.parametrize(
    "changes", [{"webhook_urls": ("https://a.example/?x",)}, {"webhook_networks": ("10.2.0.0/99",)}]
)
def test_settings_that_cannot_be_read_are_refused(
    engine: Engine,  # noqa: F811
    receiver: Receiver,
    changes: dict[str, Any],
) -> None:
    with pytest.raises(SettingsError, match="GRASP_WEBHOOK"):
        sender(engine, receiver, **changes)
