"""Downloading published data sets: from a real server, and with everything that can go wrong on the way."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import resource
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.cli.fetch import fill_fetch
from grasp_core.model.errors import DataError
from grasp_core.reading.sources.published import PUBLISHED, Published, fetch

CONTENT = b"item,rater,label\n" + b"i1,r1,Yes\n" * 40_000


class Publisher(ThreadingHTTPServer):
    """A server that remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.asked: list[str] = []

    def offers(self, path: str = "/data/set.csv", content: bytes = CONTENT) -> dict[str, Published]:
        """The registry of somebody who expects `content` at `path`."""
        url = f"http://127.0.0.1:{self.server_port}{path}"
        sha256 = hashlib.sha256(content).hexdigest()
        return {"set": Published(url, sha256, len(content), "CC BY 4.0", "Nobody (2024)")}


class _Answer(BaseHTTPRequestHandler):
    server: Publisher

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if self.path.startswith("/missing"):
            self.send_error(404)
            return
        if self.path.startswith("/endless"):
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(ConnectionError):
                while True:
                    self.wfile.write(CONTENT)
            return
        cut = self.path.startswith("/cut")
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT[: len(CONTENT) // 2] if cut else CONTENT)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def publisher(monkeypatch) -> Iterator[Publisher]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Publisher() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def refusal(folder: Path, offers: dict[str, Published]) -> str:
    """The sentence; the folder is as it was."""
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(DataError) as caught:
        fetch("set", folder, offers)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_file_is_downloaded_once(publisher, tmp_path):
    folder = tmp_path / "new" / "folder"
    file = fetch("set", folder, publisher.offers())
    assert file == folder / "set.csv"
    assert file.read_bytes() == CONTENT
    assert list(folder.iterdir()) == [file]
    assert fetch("set", folder, publisher.offers()) == file
    assert publisher.asked == ["/data/set.csv"]


def test_another_file_than_published_is_not_kept(publisher, tmp_path):
    said = refusal(tmp_path, publisher.offers(content=b"something else"))
    assert "not the one published" in said


def test_a_missing_file(publisher, tmp_path):
    said = refusal(tmp_path, publisher.offers("/missing/set.csv"))
    assert "answered 404 Not Found" in said


def test_a_body_that_breaks_off(publisher, tmp_path):
    said = refusal(tmp_path, publisher.offers("/cut/set.csv"))
    assert "broke off" in said
    assert publisher.asked == ["/cut/set.csv"]


def test_a_body_without_end(publisher, tmp_path):
    assert "not the one published" in refusal(tmp_path, publisher.offers("/endless/set.csv"))


def test_nobody_answers(publisher, tmp_path):
    with socket.socket() as closed:  # bound and not listening: connections are refused
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        offers = publisher.offers()
        offers["set"] = replace(offers["set"], url=f"http://127.0.0.1:{port}/set.csv")
        assert "cannot be reached" in refusal(tmp_path, offers)


def test_a_name_that_does_not_resolve(publisher, tmp_path):
    offers = publisher.offers()
    offers["set"] = replace(offers["set"], url="http://publisher.invalid/set.csv")  # RFC 2606
    assert "publisher.invalid cannot be reached" in refusal(tmp_path, offers)


def test_no_room_for_the_file(publisher, tmp_path):
    """A limit on the size of files fails the write as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(CONTENT) // 4, before[1]))
    try:
        said = refusal(tmp_path, publisher.offers())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "cannot be written (File too large)" in said


def test_a_folder_that_is_a_file(publisher, tmp_path):
    (tmp_path / "taken").write_text("mine", encoding="utf-8")
    with pytest.raises(DataError, match="cannot be written"):
        fetch("set", tmp_path / "taken", publisher.offers())
    assert (tmp_path / "taken").read_text(encoding="utf-8") == "mine"


def test_a_file_of_somebody_else_stays(publisher, tmp_path):
    (tmp_path / "set.csv").write_text("mine", encoding="utf-8")
    assert "is there already" in refusal(tmp_path, publisher.offers())
    assert publisher.asked == []


def test_a_name_that_is_not_there(publisher, tmp_path):
    with pytest.raises(DataError, match="there are dices-350, dices-990"):
        fetch("dices", tmp_path)


def test_the_command_says_where_the_file_is_and_its_licence(publisher, tmp_path, capsys):
    parser = argparse.ArgumentParser()
    fill_fetch(parser, publisher.offers())
    chosen = parser.parse_args(["set", "--to", str(tmp_path)])
    chosen.command(chosen)
    file = tmp_path / "set.csv"
    assert file.read_bytes() == CONTENT
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [str(file), "to cite: Nobody (2024)"]
    assert printed.err.splitlines() == [
        f"0.4 MB from http://127.0.0.1:{publisher.server_port}/data/set.csv",
        f"SHA-256: {hashlib.sha256(CONTENT).hexdigest()}",
        "licence: CC BY 4.0",
    ]


def test_the_command_ends_with_one_sentence(tmp_path, capsys):
    name = PUBLISHED["dices-350"].file_name
    (tmp_path / name).write_text("mine", encoding="utf-8")
    assert cli.main(["fetch", "dices-350", "--to", str(tmp_path)]) == cli.BAD_INPUT
    printed = capsys.readouterr()
    assert printed.out == ""
    *told, sentence = printed.err.splitlines()
    assert "warning: Some of the conversations are offensive." in told
    assert sentence.startswith(f"grasp: {tmp_path / name} is there already and is not the file as published;")


def test_the_registry_is_complete():
    for published in PUBLISHED.values():
        assert published.url.startswith("https://")
        assert published.file_name.endswith(".csv")
        assert len(bytes.fromhex(published.sha256)) == 32
        assert published.bytes > 0
        assert published.licence
        assert published.citation
