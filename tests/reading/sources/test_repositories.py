"""Data sets from a small server that answers as Hugging Face and GitHub do, and as they should not."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grasp_core.benchmark.tasks import builtin_tasks, read_rows, read_tasks
from grasp_core.cli.fetch import fill_fetch
from grasp_core.model.errors import DataError
from grasp_core.reading.sources.published import REPOSITORIES, Repository, fetch_listed, listing
from tests.reading.sources.serving import Site, site

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def git_id(content: bytes) -> str:
    """As ``git hash-object`` gives it."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def rows_of(task: str) -> dict[str, bytes]:
    """Two small files of a task."""
    built = builtin_tasks()[task]
    cells = ",".join("text" for _ in built.fields)
    header = ",".join(built.fields)
    return {
        "train.csv": f"{header},Label,ID\n{cells},{built.classes[0]},0\n".encode(),
        "test_unlabeled.csv": f"{header},ID\n{cells},50\n".encode(),
    }


def hub(held: Site) -> Repository:
    """RAFT where `held` answers; banking_77's rows to be labelled are stored apart, as large files are."""
    entries: list[dict[str, object]] = [
        {"type": "directory", "oid": "0" * 40, "size": 0, "path": "data/ade_corpus_v2"},
        {"type": "file", "oid": "1" * 40, "size": 3, "path": "data/ade_corpus_v2/task.json"},
    ]
    for task in builtin_tasks():
        for name, content in rows_of(task).items():
            path = f"data/{task}/{name}"
            entry: dict[str, object] = {"type": "file", "path": path, "size": len(content)}
            if (task, name) == ("banking_77", "test_unlabeled.csv"):
                sha256 = hashlib.sha256(content).hexdigest()
                entry |= {"oid": "2" * 40, "lfs": {"oid": sha256, "size": len(content), "pointerSize": 130}}
            else:
                entry["oid"] = git_id(content)
            entries.append(entry)
            held.files[f"/datasets/ought/raft/resolve/{COMMIT}/{path}"] = content
    held.files["/api/datasets/ought/raft"] = json.dumps({"id": "ought/raft", "sha": COMMIT}).encode()
    tree = f"/api/datasets/ought/raft/tree/{COMMIT}/data?recursive=true"
    held.files[tree] = json.dumps(entries).encode()
    return replace(REPOSITORIES["raft"], api=held.url, files=held.url)


def github(held: Site) -> Repository:
    """D3CODE where `held` answers."""
    name = "google-research-datasets/D3code"
    files = {"d3-raters.csv": b"rater_id\n1\n", "d3-items.csv": b"item_id\n1\n", "README.md": b"# D3\n"}
    tree = [
        {"path": path, "mode": "100644", "type": "blob", "sha": git_id(content), "size": len(content)}
        for path, content in files.items()
    ]
    held.files[f"/repos/{name}/commits/HEAD"] = json.dumps({"sha": COMMIT}).encode()
    held.files[f"/repos/{name}/git/trees/{COMMIT}?recursive=1"] = json.dumps({"tree": tree}).encode()
    held.files |= {f"/{name}/{COMMIT}/{path}": content for path, content in files.items()}
    return replace(REPOSITORIES["d3code"], api=held.url, files=held.url)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    with site() as found:
        yield found


def run(repositories: dict[str, Repository], *arguments: str) -> None:
    parser = argparse.ArgumentParser()
    fill_fetch(parser, {}, repositories)
    chosen = parser.parse_args(arguments)
    chosen.command(chosen)


def nothing(_done: int, _of: int) -> None: ...


def test_raft_is_told_first_then_fetched_whole(
    held: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
        assert train.labels == (task.classes[0],)
        assert (folder / name / "test_unlabeled.csv").read_bytes() == rows_of(name)["test_unlabeled.csv"]
    assert not list(folder.rglob("*.part"))

    held.asked.clear()
    run(repositories, "raft", "--to", str(folder))
    assert not any("resolve" in path for path in held.asked)


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
    with pytest.raises(DataError, match="not the one listed"):
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


@pytest.mark.parametrize(
    "answer", [b"<html>", b"[]", b'{"tree": 5}', b'{"tree": [{"type": "blob", "path": "d3-raters.csv"}]}']
)
def test_listings_that_are_none(held: Site, answer: bytes) -> None:
    repository = github(held)
    held.files[f"/repos/{repository.name}/git/trees/{COMMIT}?recursive=1"] = answer
    with pytest.raises(DataError, match="answered otherwise than expected"):
        listing(repository)


def test_paths_that_lead_out_are_left_out(held: Site) -> None:
    repository = github(held)
    tree = [{"path": "../raters.csv", "type": "blob", "sha": "0" * 40, "size": 1}]
    held.files[f"/repos/{repository.name}/git/trees/{COMMIT}?recursive=1"] = json.dumps(
        {"tree": tree}
    ).encode()
    with pytest.raises(DataError, match="holds none of"):
        listing(repository)


def test_a_task_that_is_no_longer_listed(held: Site) -> None:
    repository = hub(held)
    (tree,) = (path for path in held.files if "/tree/" in path)
    kept = [one for one in json.loads(held.files[tree]) if "overruling" not in one["path"]]
    held.files[tree] = json.dumps(kept).encode()
    with pytest.raises(
        DataError, match=r"does not list 'overruling/train\.csv', 'overruling/test_unlabeled\.csv'"
    ):
        run({"raft": repository}, "raft")


def test_nobody_answers(held: Site) -> None:
    with pytest.raises(DataError, match="answered 404"):
        listing(replace(REPOSITORIES["raft"], api=held.url, files=held.url))
