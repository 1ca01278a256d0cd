"""Published data sets and repositories, from real servers that answer as they should and not."""

import argparse
import hashlib
import json
import resource
import shlex
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.benchmark.submissions import VALIDATED
from grasp_core.benchmark.tasks import builtin_tasks, read_rows, read_tasks
from grasp_core.cli.fetch import (
    PUBLISHED,
    REPOSITORIES,
    Published,
    Repository,
    fetch,
    fetch_listed,
    fill_fetch,
    listing,
)
from grasp_core.model.errors import DataError
from tests.reading.making import refusal_of
from tests.reading.sources.serving import Site, site
from tests.test_docs import MODELS, blocks

# Published files
CONTENT = b"item,rater,label\n" + b"i1,r1,Yes\n" * 40_000
PLACE = "/data/set.csv"


def offers(held: Site, path: str = PLACE, content: bytes = CONTENT) -> dict[str, Published]:
    """The registry of somebody who expects `content` at `path`."""
    held.files |= {PLACE: CONTENT, "/cut/set.csv": CONTENT}
    sha256 = hashlib.sha256(content).hexdigest()
    return {"set": Published(f"{held.url}{path}", sha256, len(content), "CC BY 4.0", "Nobody (2024)")}


def refusal(folder: Path, offered: dict[str, Published]) -> str:
    """The sentence; the folder is as it was."""
    before = {path: path.read_bytes() for path in folder.iterdir()}
    sentence = refusal_of(lambda: fetch(offered["set"], folder))
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    return sentence


def test_a_file_is_downloaded_once(held, tmp_path):
    folder = tmp_path / "new" / "folder"
    file = fetch(offers(held)["set"], folder)
    assert file == folder / "set.csv"
    assert file.read_bytes() == CONTENT
    assert list(folder.iterdir()) == [file]
    assert fetch(offers(held)["set"], folder) == file
    assert held.asked == [PLACE]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"content": b"something else"}, "not the one published"),
        ({"path": "/missing/set.csv"}, "answered 404 Not Found"),
        ({"path": "/cut/set.csv"}, "broke off"),
        ({"path": "/data/endless/set.csv"}, "not the one published"),
    ],
)
def test_another_file_than_published_is_not_kept(held, tmp_path, asked, sentence):
    assert sentence in refusal(tmp_path, offers(held, **asked))
    assert len(held.asked) == 1


@pytest.mark.parametrize("host", ["127.0.0.1", "publisher.invalid"])  # RFC 2606
def test_nobody_answers(held, tmp_path, host):
    with socket.socket() as closed:  # bound and not listening: connections are refused
        closed.bind(("127.0.0.1", 0))
        at = f"{host}:{closed.getsockname()[1]}"
        offered = replace(offers(held)["set"], url=f"http://{at}/set.csv")
        assert f"{at} cannot be reached" in refusal(tmp_path, {"set": offered})


def test_no_room_for_the_file(held, tmp_path):
    """A limit on the size of files fails the write as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(CONTENT) // 4, before[1]))
    try:
        said = refusal(tmp_path, offers(held))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "cannot be written (File too large)" in said


def test_what_is_there_already_stays(held, tmp_path):
    (tmp_path / "set.csv").write_text("mine", encoding="utf-8")
    assert "is there already" in refusal(tmp_path, offers(held))
    assert held.asked == []
    with pytest.raises(DataError, match="cannot be written"):
        fetch(offers(held)["set"], tmp_path / "set.csv")  # a folder that is a file
    assert (tmp_path / "set.csv").read_text(encoding="utf-8") == "mine"


def test_the_command_says_where_the_file_is_and_its_licence(held, tmp_path, capsys):
    run({}, "set", "--to", str(tmp_path), published=offers(held))
    file = tmp_path / "set.csv"
    assert file.read_bytes() == CONTENT
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [str(file), "to cite: Nobody (2024)"]
    assert printed.err.splitlines() == [
        f"0.4 MB from {held.url}{PLACE}",
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
    assert "a file of this name is there already and is not the one published;" in sentence


def test_the_registry_is_complete():
    for published in PUBLISHED.values():
        assert published.url.startswith("https://")
        assert published.file_name.endswith(".csv")
        assert len(bytes.fromhex(published.sha256)) == 32
        assert published.bytes > 0
        assert published.licence
        assert published.citation


# Repositories
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def rows_of(task: str) -> dict[str, bytes]:
    """Two small files of a task."""
    built = builtin_tasks()[task]
    cells = ",".join("text" for _ in built.fields)
    header = ",".join(built.fields)
    labelled = "".join(f"{cells},{one},{row}\n" for row, one in enumerate(built.classes[:2]))
    return {
        "train.csv": f"{header},Label,ID\n{labelled}".encode(),
        "test_unlabeled.csv": f"{header},ID\n{cells},50\n".encode(),
    }


def entry(path: str, content: bytes, **other: object) -> dict[str, object]:
    """As a Git repository lists a file, with what ``git hash-object`` gives."""
    sha1 = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    return {"path": path, "size": len(content), "oid": sha1, "sha": sha1, **other}


def hub(held: Site) -> Repository:
    """RAFT where `held` answers; banking_77's rows to be labelled are stored apart, as large files are."""
    entries = [
        {"type": "directory", "oid": "0" * 40, "size": 0, "path": "data/ade_corpus_v2"},
        {"type": "file", "oid": "1" * 40, "size": 3, "path": "data/ade_corpus_v2/task.json"},
    ]
    for task in builtin_tasks():
        for name, content in rows_of(task).items():
            found = entry(f"data/{task}/{name}", content, type="file")
            if (task, name) == ("banking_77", "test_unlabeled.csv"):
                sha256 = hashlib.sha256(content).hexdigest()
                large = {"oid": sha256, "size": len(content), "pointerSize": 130}
                found |= {"oid": "2" * 40, "lfs": large}
            entries.append(found)
            held.files[f"/datasets/ought/raft/resolve/{COMMIT}/{found['path']}"] = content
    held.files["/api/datasets/ought/raft"] = json.dumps({"id": "ought/raft", "sha": COMMIT}).encode()
    tree = f"/api/datasets/ought/raft/tree/{COMMIT}/data?recursive=true"
    held.files[tree] = json.dumps(entries).encode()
    return replace(REPOSITORIES["raft"], api=held.url, files=held.url)


def github(held: Site) -> Repository:
    """D3CODE where `held` answers."""
    name = "google-research-datasets/D3code"
    files = {"d3-raters.csv": b"rater_id\n1\n", "d3-items.csv": b"item_id\n1\n", "README.md": b"# D3\n"}
    tree = [entry(path, content, mode="100644", type="blob") for path, content in files.items()]
    held.files[f"/repos/{name}/commits/HEAD"] = json.dumps({"sha": COMMIT}).encode()
    held.files[f"/repos/{name}/git/trees/{COMMIT}?recursive=1"] = json.dumps({"tree": tree}).encode()
    held.files |= {f"/{name}/{COMMIT}/{path}": content for path, content in files.items()}
    return replace(REPOSITORIES["d3code"], api=held.url, files=held.url)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    with site() as found:
        yield found


def run(repositories: dict[str, Repository], *arguments: str, published: dict[str, Published] | None = None):
    parser = argparse.ArgumentParser()
    fill_fetch(parser, published or {}, repositories)
    chosen = parser.parse_args(arguments)
    chosen.command(chosen)


def nothing(_done: int, _of: int) -> None: ...


def test_raft_is_told_first_then_fetched_whole(held, tmp_path, capsys) -> None:
    repositories = {"raft": hub(held)}
    run(repositories, "raft", "--list")
    told = capsys.readouterr().err
    assert f"22 files, 0.0 MB, from {held.url}, ought/raft at {COMMIT}" in told
    assert told.count("git:") == 21
    assert told.count("sha256:") == 1
    assert "licence: by task" in told
    assert "warning: The tweets of tweet_eval_hate are offensive" in told
    assert not any("resolve" in path for path in held.asked)

    folder = tmp_path / "raft"
    run(repositories, "raft", "--to", str(folder))
    printed = capsys.readouterr()
    assert "22 of 22 files are here" in printed.err
    assert printed.err.index("warning:") < printed.err.index("1 of 22")
    tasks = read_tasks(folder)
    assert dict(tasks) == {name: builtin_tasks()[name] for name in sorted(builtin_tasks())}
    for name, task in tasks.items():
        train = read_rows(folder / name / "train.csv", task, labelled=True)
        assert train.labels == task.classes[:2]
        assert (folder / name / "test_unlabeled.csv").read_bytes() == rows_of(name)["test_unlabeled.csv"]
    assert not list(folder.rglob("*.part"))

    held.asked.clear()
    run(repositories, "raft", "--to", str(folder))
    assert not any("resolve" in path for path in held.asked)


def test_six_commands_lead_from_fetch_to_the_leaderboard(held, tmp_path, monkeypatch, capsys) -> None:
    """The first block of docs/models.md, from a publisher on this machine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(REPOSITORIES, "raft", hub(held))
    first, *_ = (block.text for block in blocks(MODELS) if block.language == "sh")
    assert [cli.main(shlex.split(line)[1:]) for line in first.splitlines()] == [0] * 6
    told = capsys.readouterr()
    assert VALIDATED in told.out
    assert "Human (crowd)" in told.out
    assert "no rows are here" not in told.err


def test_d3code_from_its_repository(held: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run({"d3code": github(held)}, "d3code", "--to", str(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d3-items.csv", "d3-raters.csv"]
    printed = capsys.readouterr()
    assert printed.out.splitlines()[:2] == [str(tmp_path / "d3-items.csv"), str(tmp_path / "d3-raters.csv")]
    assert "licence: CC BY 4.0" in printed.err


def test_a_file_that_is_not_the_one_listed_is_not_kept(held: Site, tmp_path: Path) -> None:
    found = listing(github(held))
    bad = next(path for path in held.files if path.endswith("d3-raters.csv"))
    good, held.files[bad] = held.files[bad], b"rater_id\n2\n"
    with pytest.raises(DataError, match="not the one published"):
        fetch_listed(found, tmp_path, nothing)
    assert [path.name for path in tmp_path.iterdir()] == ["d3-items.csv"]
    held.files[bad] = good
    held.asked.clear()
    fetch_listed(found, tmp_path, nothing)
    assert held.asked == [bad]


def test_a_file_of_somebody_else_stays(held: Site, tmp_path: Path) -> None:
    found = listing(github(held))
    held.asked.clear()
    (tmp_path / "d3-raters.csv").write_text("mine", encoding="utf-8")
    with pytest.raises(DataError, match="is not the one published; move it away"):
        fetch_listed(found, tmp_path, nothing)
    assert (tmp_path / "d3-raters.csv").read_text(encoding="utf-8") == "mine"
    assert held.asked == []


OUTSIDE = [{"path": "../raters.csv", "type": "blob", "sha": "0" * 40, "size": 1}]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        *((b"<html>", "answered otherwise than expected"), (b"[]", "answered otherwise than expected")),
        (b'{"tree": 5}', "answered otherwise than expected"),
        (b'{"tree": [{"type": "blob", "path": "d3-raters.csv"}]}', "answered otherwise than expected"),
        (json.dumps({"tree": OUTSIDE}).encode(), "holds none of"),
    ],
)
def test_listings_that_are_none_and_paths_that_lead_out(held: Site, answer: bytes, said: str) -> None:
    repository = github(held)
    held.files[f"/repos/{repository.name}/git/trees/{COMMIT}?recursive=1"] = answer
    with pytest.raises(DataError, match=said):
        listing(repository)


def test_a_task_that_is_no_longer_listed(held: Site) -> None:
    repository = hub(held)
    (tree,) = (path for path in held.files if "/tree/" in path)
    kept = [one for one in json.loads(held.files[tree]) if "overruling" not in one["path"]]
    held.files[tree] = json.dumps(kept).encode()
    said = r"does not list 'overruling/train\.csv', 'overruling/test_unlabeled\.csv'"
    with pytest.raises(DataError, match=said):
        run({"raft": repository}, "raft")
    held.files.clear()
    with pytest.raises(DataError, match="answered 404"):
        listing(repository)
