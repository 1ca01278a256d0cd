"""Fetching by the tools' own clients, from servers that answer as the tools do.

``make test-connectors`` has the clients; ``make exports`` runs a real Label Studio.
"""

from __future__ import annotations

from collections import Counter

import pytest

from grasp_core.model.errors import DataError
from grasp_core.reading.connectors.fetching import Snapshot, available, fetch
from grasp_core.reading.connectors.hosts import hosts_of
from grasp_core.reading.connectors.source import Kind, parse
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from tests.reading.connectors import recorded
from tests.reading.connectors.answering import Tool, tool


def needs(kind: Kind) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not available(kind), reason="needs requirements-connectors.txt")


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
    with tool(recorded.label_studio) as served:
        first, second = (
            fetched(served, "label-studio:{url}/projects/3/data", recorded.REFRESH) for _ in range(2)
        )
        assert first.name == "label-studio-3.json"
        assert first.sha256 == second.sha256
        assert b"created_ago" not in first.content
        assert votes(first) == ("Label Studio, JSON", Counter(Unsure=4, Yes=1), 3)
        for project, token, sentence in (
            (4, recorded.REFRESH, "project 4 at .* has 0 tasks and no annotation yet"),
            (5, recorded.REFRESH, "has no project 5 at .* that this token may see; check the address"),
            (3, "wrong", "does not let this token read project 3 at .*; make one at Label Studio that may"),
        ):
            with pytest.raises(DataError, match=sentence):
                fetched(served, f"label-studio:{{url}}/projects/{project}", token)


@needs("argilla")
def test_argilla() -> None:
    said: list[str] = []
    with tool(recorded.argilla) as served:
        snapshot = fetched(served, "argilla:{url}/lab/votes", recorded.TOKEN, said)
        assert votes(snapshot) == ("Argilla, JSON", Counter(Yes=300, No=300), 2)
        assert {"250 records", "300 records"} & set(said)
        by_id = fetched(served, f"argilla:{{url}}/dataset/{recorded.DATASET}/annotation-mode", recorded.TOKEN)
        assert by_id.content == snapshot.content
        for place, sentence in (
            ("/labs/votes", "has no workspace 'labs' for this API key; of those it shows 'lab'"),
            ("/lab/vote", "workspace 'lab' at .* has no data set 'vote'; there are 'votes'"),
        ):
            with pytest.raises(DataError, match=sentence):
                fetched(served, f"argilla:{{url}}{place}", recorded.TOKEN)


@needs("hf")
def test_hugging_face(monkeypatch: pytest.MonkeyPatch) -> None:
    with tool(recorded.hub) as served:
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
                fetched(served, source, recorded.TOKEN)


@needs("label-studio")
def test_a_redirect_to_another_host_is_not_followed() -> None:
    with tool(recorded.label_studio) as other, tool(lambda _: (302, b"", {"Location": other.url})) as served:
        with pytest.raises(DataError, match=r"leads to another host, 127\.0\.0\.1, which this"):
            fetched(served, "label-studio:{url}/projects/3", recorded.TOKEN)
        assert served.asked
        assert not other.asked
