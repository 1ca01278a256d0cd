"""A server that may read a folder, the folder's files, and a run of them that is watched."""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from grasp_core.engine.pools import workers
from grasp_core.engine.run import checked_groups
from grasp_core.model.access import LOCAL_USER, User, only
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.settings import Settings
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.server.server import Server
from grasp_core.store.runs import RunRecord
from grasp_core.store.schema import watches
from grasp_core.store.watches import Watch
from tests.empty_store import empty_home
from tests.store.making import change

DATA = DataSpec(item="item", rater="rater", label="label", profile=("gender",))
PATIENCE_S = 120


def votes(items: int = 30, raters: int = 24, *, apart: bool = False, few: bool = False) -> bytes:
    """Votes of women and men; `apart`, women agree on "Yes" where they said anything before.

    With `few` the last two raters are of a group of their own.
    """
    rng = np.random.default_rng(1)
    lines = ["item,rater,gender,label"]
    for rater in range(raters):
        gender = "X" if few and rater >= raters - 2 else ("Woman", "Man")[rater % 2]
        for item, yes in enumerate(rng.random(items) < 0.5):
            said = item % 2 == 0 if apart and gender == "Woman" else yes
            lines.append(f"i{item},r{rater},{gender},{'Yes' if said else 'No'}")
    return "\n".join([*lines, ""]).encode()


@contextmanager
def watching(folder: Path, **changes: Any) -> Iterator[Server]:
    """A server that computes, whose files are ``votes.csv`` in the folder ``data``."""
    (folder / "data").mkdir()
    (folder / "data" / "votes.csv").write_bytes(votes())
    settings = {"home": empty_home(folder), "data_dir": str(folder / "data"), **changes}
    with closing(Server(Settings(**settings), workers.threads)) as made:
        made.service.start()
        yield made


def ran(
    server: Server,
    *,
    by: User = LOCAL_USER,
    project: str = "everyone",
    title: str = "Votes",
    file: tuple[str, str] | None = None,
    **analysis: Any,
) -> RunRecord:
    """A run of the file in the folder, or of one that is stored, done."""
    inputs, reach = server.service.inputs, only(project)
    if file is None:
        table = inputs.refer("data:votes.csv", owner=by.id, reach=reach)
        file = table.name, table.sha256
    asked = {"axes": (("gender",),), "permutations": 200, "pairs": False, "min_raters": 2, **analysis}
    spec = RunSpec(DATA, AnalysisSpec(**asked))
    tables = inputs.tables(spec.data, {"annotations": file}, reach=reach)
    dataset = inputs.formed(spec, tables, (), reach=reach)
    checked_groups(dataset, spec)
    run, _ = server.service.submit(dataset, spec, title=title, reach=reach, owner=by.id)
    return ended(server, run.id)


def ended(server: Server, run_id: str) -> RunRecord:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        run = server.runs.get(run_id)
        if run.ended:
            return run
        assert time.monotonic() < deadline
        time.sleep(0.02)


def look(server: Server, watch: Watch) -> Watch:
    """As if the watch were due now: looked at, and a run of changed data waited for."""
    change(server.database, watches, next_at=0.0)
    server.watching.look_due()
    found = server.watches.get(watch.id)
    if found.going_run is not None:
        ended(server, found.going_run)
        server.watching.settle()
        found = server.watches.get(watch.id)
    return found
