"""Fetching: the process, the tools' own clients, and sources as people write them, without secrets."""

import json
import os
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from grasp_core.model.errors import DataError, SettingsError
from grasp_core.model.extras import has
from grasp_core.model.json_values import from_json, to_json
from grasp_core.reading.connectors import fetching
from grasp_core.reading.connectors.fetching import Snapshot, fetch
from grasp_core.reading.connectors.source import TOOLS, Hosts, Kind, Source, hosts_of, is_source, make, parse
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from tests.reading.connectors import answering
from tests.reading.connectors.answering import Tool, tool

ROOT = Path(__file__).parents[3]
GUARDED = """
import socket, sys, urllib.request, subprocess, os
from grasp_core.reading.connectors import child as guard
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
    before = children()

    class StoppedError(Exception):
        pass

    def told(_: str) -> None:
        if children() - before:
            raise StoppedError

    with pytest.raises(StoppedError):
        fetch(source, hosts=Hosts(any=True), told=told)
    assert not children() - before


def children() -> set[int]:
    """Processes that this one has started."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if stat.read_text().rpartition(")")[2].split()[1] == str(os.getpid()):
                found.add(int(stat.parent.name))
    return found


def test_a_server_that_says_nothing_is_given_up(listening: int) -> None:
    source = make("sql", f"postgresql://127.0.0.1:{listening}/labels", {"table": "votes"})
    with pytest.raises(DataError, match=r"table votes of labels at .* did not arrive within 1 s, the limit"):
        fetch(source, hosts=Hosts(any=True), seconds=1)


def test_tokens_that_are_none_and_what_is_too_large_are_refused(monkeypatch, sqlite: Path) -> None:
    source = parse("sql:postgresql://127.0.0.1:1/labels?table=votes")
    with pytest.raises(DataError, match="characters that no token has"):
        fetch(source, "a\nb", hosts=Hosts(any=True))
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
    with pytest.raises(DataError, match="no connection"):
        fetch(source, "hidden", hosts=hosts_of(["127.0.0.1:1"], own_machine=False))
    assert len(seen) == 1
    assert "hidden" not in seen[0]


# The tools' own clients, from servers that answer as the tools do
def needs(kind: Kind) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not has(TOOLS[kind].client), reason="needs requirements-connectors.txt")


def fetched(served: Tool, source: str, token: str, said: list[str] | None = None) -> Snapshot:
    """As a team's server fetches that may ask this host alone."""
    hosts = hosts_of([f"http://{served.host}"], own_machine=False)
    told = (said if said is not None else []).append
    return fetch(parse(source.format(url=served.url)), token, hosts=hosts, told=told)


def votes(snapshot: Snapshot) -> tuple[str, Counter[str], int]:
    """Kind of the file, labels and raters, as the readers find them."""
    table = read_table(snapshot.content, snapshot.name)
    found = load(table, None, recognise(table).spec, ()).annotations
    labels = Counter(found.categories[label] for label in found.category)
    return table.kind, labels, len(found.rater_ids)


@needs("label-studio")
def test_label_studio() -> None:
    with tool(answering.label_studio) as served:
        place = "label-studio:{url}/projects/3/data"
        first, second = (fetched(served, place, answering.REFRESH) for _ in range(2))
        assert first.name == "label-studio-3.json"
        assert first.sha256 == second.sha256
        assert b"created_ago" not in first.content
        assert votes(first) == ("Label Studio, JSON", Counter(Unsure=4, Yes=1), 3)
        for project, token, sentence in (
            (4, answering.REFRESH, "project 4 at .* has 0 tasks and no annotation yet"),
            (5, answering.REFRESH, "has no project 5 at .* that this token may see; check the address"),
            (3, "wrong", "does not let this token read project 3 at .*; make one at Label Studio that may"),
        ):
            with pytest.raises(DataError, match=sentence):
                fetched(served, f"label-studio:{{url}}/projects/{project}", token)


@needs("argilla")
def test_argilla() -> None:
    said: list[str] = []
    with tool(answering.argilla) as served:
        snapshot = fetched(served, "argilla:{url}/lab/votes", answering.TOKEN, said)
        assert votes(snapshot) == ("Argilla, JSON", Counter(Yes=300, No=300), 2)
        assert {"250 records", "300 records"} & set(said)
        place = f"argilla:{{url}}/dataset/{answering.DATASET}/annotation-mode"
        by_id = fetched(served, place, answering.TOKEN)
        assert by_id.content == snapshot.content
        for place, sentence in (
            ("/labs/votes", "has no workspace 'labs' for this API key; of those it shows 'lab'"),
            ("/lab/vote", "workspace 'lab' at .* has no data set 'vote'; there are 'votes'"),
        ):
            with pytest.raises(DataError, match=sentence):
                fetched(served, f"argilla:{{url}}{place}", answering.TOKEN)


@needs("hf")
def test_hugging_face(monkeypatch: pytest.MonkeyPatch) -> None:
    with tool(answering.hub) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        snapshot = fetched(served, "hf:lab/votes?split=train", "")
        table = read_table(snapshot.content, snapshot.name)
        assert snapshot.name == "lab_votes-train.parquet"
        assert table.frame().to_dict("list") == {
            "item": ["a", "a", "b"],
            "rater": ["1", "2", "1"],
            "label": ["Yes", "No", ""],
        }
        for source, sentence in (
            ("hf:lab/votes", r"lab/votes has 2 splits: 'train', 'test'; name one"),
            ("hf:lab/votes?split=dev", "has no split 'dev'; it has 'train', 'test'"),
            ("hf:lab/none", "has no data set lab/none that"),
        ):
            with pytest.raises(DataError, match=sentence):
                fetched(served, source, answering.TOKEN)


@needs("label-studio")
def test_a_redirect_to_another_host_is_not_followed() -> None:
    with tool(answering.label_studio) as other, tool(lambda _: (302, b"", {"Location": other.url})) as served:
        with pytest.raises(DataError, match=r"leads to another host, 127\.0\.0\.1, which this"):
            fetched(served, "label-studio:{url}/projects/3", answering.TOKEN)
        assert served.asked
        assert not other.asked


def test_a_source_has_one_form_and_paths_are_none() -> None:
    def same(written: str, form: str, shown: str) -> None:
        source = parse(written)
        assert (str(source), source.shown) == (form, shown)
        assert parse(form) == source
        assert from_json(json.loads(json.dumps(to_json(source))), Source) == source
        assert is_source(form)

    labels = "label-studio:https://labels.example.org/team/projects/7"
    written = " label-studio:HTTPS://Labels.Example.org:443/team/projects/007/data "
    same(written, labels, "project 7 at labels.example.org")
    argilla = "argilla:https://argilla.example:6900/my%20lab/votes"
    same(argilla, argilla, "data set my lab/votes at argilla.example:6900")
    argilla = "argilla:https://argilla.example/dataset/6f9619ff"
    same(f"{argilla}/annotation-mode", argilla, "data set dataset/6f9619ff at argilla.example")
    written = "hf:https://huggingface.co/datasets/lab/votes@v1.2?split=train&config=big"
    same(written, "hf:lab/votes@v1.2?config=big&split=train", "data set lab/votes@v1.2, big, train")
    written = "sql:postgresql+psycopg://ann@DB.internal:5432/labels?table=public.votes"
    form = "sql:postgresql://ann@db.internal/labels?table=public.votes"
    same(written, form, "table public.votes of labels at db.internal")
    query = "sql:sqlite:////data/votes.db?query=select%20*%20from%20votes"
    same(query, query.replace("*", "%2A"), "a query of votes.db")
    paths = ("votes.csv", "C:\\votes.csv", "sqlite:///x.db")
    for place in (*paths, "https://host/votes.csv", "hf://datasets/lab/votes"):
        assert not is_source(place), place
    assert make("hf", "lab/votes", {"config": " ", "split": "train"}) == parse("hf:lab/votes?split=train")


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("labelstudio:https://host/projects/3", "a source begins with"),
        ("label-studio:https://host/user/3", "is no project's; write it like label-studio:https://host/proj"),
        ("label-studio:ftp://host/projects/3", "does not begin with https://"),
        ("label-studio:https://ann:hidden@host/projects/3", "holds a password, which is given apart"),
        ("label-studio:https://ann@host/projects/3", "holds a user name or password"),
        ("label-studio:https://ho st/projects/3", "names no host"),
        ("label-studio:https://host:x/projects/3", "cannot be read"),
        ("label-studio:https://host/projects/3?token=hidden", "'token' is no option"),
        ("label-studio:https://host/projects/3#hidden", "'#'"),
        ("label-studio:https://host/../projects/3", "a folder that no page has"),
        ("argilla:https://host/votes", "names no workspace"),
        ("hf:../votes", "is no name of a data set"),
        ("hf:/etc/passwd", "is no name of a data set"),
        ("hf:lab/votes@../../x", "is no name of a data set"),
        ("sql:postgresql://host/labels", "either a table or a query"),
        ("sql:postgresql://host/labels?table=a&query=b", "either a table or a query"),
        ("sql:postgresql://host/labels?table=a&host=/var/run", "'host' is no option"),
        ("sql:postgresql://ann:hidden@host/labels?table=a", "holds a password"),
        ("sql:postgresql://one,two/labels?table=a", "names no host"),
        ("sql:postgresql:///labels?table=a", "names no host"),
        ("sql:postgresql://host/a%20host=b?table=a", "names no database"),
        ("sql:mysql://host/labels?table=a", "'mysql' is not read; PostgreSQL and SQLite are"),
        ("sql:sqlite://host/file.db?table=a", "sqlite:///folder/file.db"),
        ("sql:sqlite:///?table=a", "sqlite:///folder/file.db"),
        ("hf:lab/\x00votes", "characters that none has"),
        ("hf:" + "a" * 30_000, "too long"),
    ],
)
def test_what_is_none_is_refused_and_passwords_are_not_repeated(written: str, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence) as raised:
        parse(written)
    assert "hidden" not in str(raised.value)


HOSTS = ["labels.example.org", "http://studio:8080", "db.internal:5433", "[::1]:5432"]
NAMED = hosts_of(HOSTS, own_machine=False)


def test_hosts_that_are_named_may_be_asked_and_entries_that_are_none_are_refused() -> None:
    for source in (
        "label-studio:https://labels.example.org/projects/3",
        "label-studio:http://studio:8080/projects/3",
        *(
            f"sql:postgresql://{host}/labels?table=a"
            for host in ("db.internal:5433", "labels.example.org", "[::1]")
        ),
    ):
        place = NAMED.check(parse(source))
        assert place.port
    for entry in ("https://host", "host/path", "host:99999", "*", "user@host", ""):
        with pytest.raises(SettingsError, match="GRASP_SOURCE_HOSTS lists hosts like"):
            hosts_of([entry], own_machine=False)


@pytest.mark.parametrize(
    "host",
    [
        *("labels.example.org:8443", "example.org", "x.labels.example.org", "labels.example.org.evil"),
        *("127.0.0.1", "169.254.169.254", "[::1]:8080", "localhost", "studio", "0x7f.1", "2130706433"),
    ],
)
def test_no_others_are_asked(host: str) -> None:
    with pytest.raises(DataError, match=r"is not a host that this server may ask; it may ask labels\.ex"):
        NAMED.check(parse(f"label-studio:https://{host}/projects/3"))
    with pytest.raises(DataError, match="it may ask none"):
        hosts_of([], own_machine=False).check(parse(f"label-studio:https://{host}/projects/3"))
    assert hosts_of([], own_machine=True).check(parse(f"label-studio:https://{host}/projects/3"))


def test_a_token_is_not_sent_in_the_clear_and_the_hub_is_a_host_too() -> None:
    for hosts in (NAMED, hosts_of([], own_machine=True)):
        with pytest.raises(DataError, match="is asked without encryption"):
            hosts.check(parse("label-studio:http://labels.example.org/projects/3"))
    assert hosts_of([], own_machine=True).check(parse("label-studio:http://127.0.0.1:8080/projects/3"))
    source = parse("hf:lab/votes")
    with pytest.raises(DataError, match=r"huggingface\.co:443 is not a host"):
        NAMED.check(source)
    assert NAMED.check(source, "https://labels.example.org")
