"""Runs put into a server's store: done, with the files that they are of, or under way."""

from collections.abc import Mapping

from grasp_core import __version__
from grasp_core.model.result import Result, RunResult
from grasp_core.server.server import Server
from grasp_core.store.runs import Request, RunRecord
from grasp_core.store.schema import run_files


def going_run(server: Server, result: RunResult, title: str = "A run", owner: str = "") -> RunRecord:
    """A run that another server computes."""
    server.runs.create(Request("a" * 64, title, owner, __version__, result.spec, result.data, ()))
    claimed = server.runs.claim()
    assert claimed is not None
    return claimed


def stored_run(server: Server, result: Result, files: Mapping[str, bytes], title: str = "A run") -> RunRecord:
    """A run that is done, with its files, by name, on the server."""
    run = server.runs.add(result, title=title, owner="")
    stored = {name: server.files.put(content, owner="") for name, content in files.items()}
    with server.database.begin() as connection:
        for position, (name, sha256) in enumerate(stored.items()):
            row = {"run_id": run.id, "position": position, "name": name, "sha256": sha256}
            connection.execute(run_files.insert().values(row))
    return run
