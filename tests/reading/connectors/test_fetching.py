"""The process that fetches: what it may reach, how long it lasts, and what it is told."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from grasp_core.model.errors import DataError
from grasp_core.reading.connectors import fetching
from grasp_core.reading.connectors.fetching import fetch
from grasp_core.reading.connectors.hosts import Hosts, hosts_of
from grasp_core.reading.connectors.source import make, parse

ROOT = Path(__file__).parents[3]
GUARDED = """
import socket, sys, urllib.request, subprocess, os
from grasp_core.reading.connectors import hosts as guard
port, other = map(int, sys.argv[1:])
early = socket.getaddrinfo("localhost", other)
guard.keep_to(lambda host, at: (host, at) == ("localhost", port))
socket.create_connection(("localhost", port)).close()
print("reached")
for what in (
    lambda: socket.create_connection(("localhost", other)),
    lambda: socket.create_connection(("127.0.0.1", port)),
    lambda: socket.socket().connect(("127.0.0.1", other)),
    lambda: socket.socket().connect_ex(("127.0.0.1", other)),
    lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", other)),
    lambda: socket.socket(socket.AF_UNIX).connect("/run/docker.sock"),
    lambda: socket.socket().bind(("", 0)),
    lambda: urllib.request.urlopen(f"http://127.0.0.1:{other}/"),
    lambda: subprocess.run(["true"]),
    lambda: os.system("true"),
    lambda: os.fork(),
):
    try:
        what()
    except guard.NotAdmittedError:
        print("refused")
    except OSError as error:
        print("refused" if isinstance(error.__context__ or error.reason, guard.NotAdmittedError) else error)
"""


@pytest.fixture
def listening() -> Iterator[int]:
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_guarded_process_reaches_one_place(listening: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        ports = [str(listening), str(other.getsockname()[1])]
        done = subprocess.run(
            [sys.executable, "-c", GUARDED, *ports], capture_output=True, text=True, check=False, cwd=ROOT
        )
        other.settimeout(0)
        with pytest.raises(BlockingIOError):
            other.accept()
    assert done.stdout.split() == ["reached", *["refused"] * 11], done.stderr


def test_a_click_ends_it_and_its_process(listening: int) -> None:
    source = make("sql", f"postgresql://127.0.0.1:{listening}/labels", {"table": "votes"})
    started = threading.Event()
    before = children()

    class StoppedError(Exception):
        pass

    def told(_: str) -> None:
        if children() - before:
            started.set()
            raise StoppedError

    with pytest.raises(StoppedError):
        fetch(source, hosts=Hosts(any=True), told=told)
    assert started.is_set()
    assert not children() - before


def children() -> set[int]:
    """Processes that this one has started."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[1] == str(os.getpid()):
            found.add(int(stat.parent.name))
    return found


def test_a_server_that_says_nothing_is_given_up(listening: int) -> None:
    source = make("sql", f"postgresql://127.0.0.1:{listening}/labels", {"table": "votes"})
    with pytest.raises(DataError, match=r"table votes of labels at .* did not arrive within 1 s, the limit"):
        fetch(source, hosts=Hosts(any=True), seconds=1)


def test_what_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch, sqlite: Path) -> None:
    monkeypatch.setattr(fetching, "MAX_BYTES", 1000)
    with pytest.raises(DataError, match="is larger than what is fetched at most; ask for a part of it"):
        fetch(make("sql", f"sqlite:///{sqlite}", {"table": "votes"}), hosts=Hosts(any=True))


def test_it_knows_none_of_the_servers_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor the token by its environment or its command line."""
    monkeypatch.setenv("GRASP_SECRET_KEY", "hidden")
    monkeypatch.setenv("PGPASSWORD", "hidden")
    seen: list[str] = []
    started = subprocess.Popen

    def noted(command: list[str], **how: object) -> object:
        seen.append(f"{command} {how['env']}")
        return started(command, **how)  # type: ignore[call-overload]

    monkeypatch.setattr(fetching.subprocess, "Popen", noted)
    source = parse("sql:postgresql://127.0.0.1:1/labels?table=votes")
    with pytest.raises(DataError, match="there is no connection to it"):
        fetch(source, "hidden", hosts=hosts_of(["127.0.0.1:1"], own_machine=False))
    assert len(seen) == 1
    assert "hidden" not in seen[0]


def test_tokens_that_are_none() -> None:
    source = parse("sql:postgresql://127.0.0.1:1/labels?table=votes")
    with pytest.raises(DataError, match="characters that no token has"):
        fetch(source, "a\nb", hosts=Hosts(any=True))
