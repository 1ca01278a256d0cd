"""A server on this machine that speaks OpenAI's completions protocol, with answers known beforehand."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.reading.sources.serving import send, serve

Reply = tuple[int, dict[str, str], bytes]


@dataclass
class Completions:
    """What the server does and what it saw."""

    url: str = ""
    top: Callable[[str], dict[str, float]] = lambda prompt: {" yes": -0.1, " no": -2.4}
    before: list[Callable[[], Reply | None]] = field(default_factory=list)
    """Done with the first requests, one each; a reply is sent instead of an answer."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def prompts(self) -> list[str]:
        return [request["prompt"] for request in self.requests]

    def reply(self, request: dict[str, Any]) -> Reply:
        named = self.top(request["prompt"])
        first, most = next(iter(named), ""), request["logprobs"]
        logprobs = {"tokens": [first], "token_logprobs": [-0.1], "text_offset": [0]}
        logprobs["top_logprobs"] = [dict(list(named.items())[:most])]
        choice = {"index": 0, "text": first, "finish_reason": "length", "logprobs": logprobs}
        body = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": request["model"]}
        body["choices"] = [choice]
        body["usage"] = {"prompt_tokens": 100, "completion_tokens": 1, "total_tokens": 101}
        return 200, {}, json.dumps(body).encode()


@contextmanager
def serving() -> Iterator[Completions]:
    """The server, for as long as the block lasts."""
    state = Completions()
    lock = threading.Lock()

    def answer(to: BaseHTTPRequestHandler) -> None:
        request = json.loads(to.rfile.read(int(to.headers["Content-Length"])))
        with lock:
            state.requests.append({**request, "path": to.path})
            state.headers.append({name.lower(): value for name, value in to.headers.items()})
            first = state.before.pop(0) if state.before else None
        replied = first() if first else None
        status, headers, body = replied or state.reply(request)
        with suppress(OSError):  # the client has given up waiting
            send(to, status, body, {"Content-Type": "application/json", **headers})

    with serve(answer, "HTTP/1.1") as url:
        state.url = f"{url}/v1"
        yield state


def says(status: int, body: bytes = b"{}", **headers: str) -> Callable[[], Reply]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda: (status, named, body)


def holds(reached: threading.Event, go_on: threading.Event) -> Callable[[], None]:
    """Say that the request has come, and answer once told to."""

    def hold() -> None:
        reached.set()
        assert go_on.wait(60)

    return hold


def waits(seconds: float) -> Callable[[], None]:
    return lambda: time.sleep(seconds)


def chats(text: str | None) -> Callable[[], Reply]:
    """The answer of a chat."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    body["usage"] = {"prompt_tokens": 90, "completion_tokens": 4, "total_tokens": 94}
    return lambda: (200, {}, json.dumps(body).encode())
