"""``watch``: saved runs that are run again when their files changed, for whoever has the database."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from grasp_core.access import EVERYONE, User, only
from grasp_core.cli.commands import Command, add_commands
from grasp_core.cli.server.people import person_id_of
from grasp_core.connectors.source import is_source
from grasp_core.engine.pools import workers
from grasp_core.errors import DataError
from grasp_core.io.sources.allowed import FOLDER
from grasp_core.panels.results import read_result
from grasp_core.people import COMMAND
from grasp_core.report.contents import run_title
from grasp_core.report.saved import json_in
from grasp_core.server import Server, make_server
from grasp_core.settings import read_settings
from grasp_core.store.runs import RunRecord
from grasp_core.store.watches.records import SECONDS, Kind, Origin, Watch
from grasp_core.watches.words import state
from grasp_core.wording import number, tabbed

CHANGED = 3
"""Exit status of ``look`` where something was run again."""
WAIT_SECONDS = 0.2
_BELOW = (
    Command("add", "watch a run of the server, or a result file", "server.watch:fill_add"),
    Command("list", "list watches, and how they stand", "server.watch:fill_list"),
    Command(
        "look", "look now, run again what changed, and say what is new", "server.watch:fill_look", reads=True
    ),
    Command("remove", "watch a run no more; its runs stay", "server.watch:fill_remove"),
)
_KINDS: tuple[Kind, ...] = ("annotations", "raters", "items")


def fill_watch(watch: argparse.ArgumentParser) -> None:
    """Add the commands below it."""
    add_commands(watch, _BELOW)


def fill_add(add: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add.set_defaults(command=_add)
    add.add_argument("run", metavar="RUN", help="id of a saved run, or a file that `run --out` wrote")
    for kind in _KINDS:
        add.add_argument(
            f"--{kind}",
            metavar="PLACE",
            help=f"for a file: where the {kind} are, below GRASP_DATA_DIR or GRASP_DATA_URLS, or a source",
        )
    add.add_argument("--every", choices=tuple(SECONDS), default="daily", help="(default: daily)")
    add.add_argument(
        "--person", default="", metavar="MAIL", help="whose it is; without sign-in, leave it out"
    )
    add.add_argument("--project", default=EVERYONE, metavar="ID", help="where a file's runs go")


def fill_list(listing: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    listing.set_defaults(command=_list)


def fill_look(look: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    look.set_defaults(command=_look)
    look.add_argument("id", nargs="*", metavar="ID", help="by default all that are not paused")


def fill_remove(remove: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    remove.set_defaults(command=_remove)
    remove.add_argument("id", metavar="ID", help="as `watch list` shows it")


def _add(chosen: argparse.Namespace) -> None:
    with _server() as server:
        owner = person_id_of(server.accounts.people, chosen.person)
        user = server.watching.person(owner)
        if user is None:
            raise DataError("a watch is somebody's: name who has signed in with --person")
        places = _places(chosen, server)
        run = _saved(chosen, server, user) if places else server.runs.get(chosen.run)
        if run is None:
            raise DataError(f"no run has the id {chosen.run}; for a file, add --annotations PLACE")
        if not user.may_run_in(run.project):
            raise DataError(f"{user.name or 'this person'} may not start runs in the run's project")
        origins = places or server.watching.origins(run)
        watch = server.watching.add_places(run, origins, every=chosen.every, by=user)
        server.audit.record(COMMAND, "watch", "watch", watch.id, {"run": run.id, "every": watch.every})
    print(watch.id)


def _places(chosen: argparse.Namespace, server: Server) -> tuple[Origin, ...]:
    named = {kind: getattr(chosen, kind) for kind in _KINDS}
    return tuple(Origin(kind, _place(text, server)) for kind, text in named.items() if text is not None)


def _place(text: str, server: Server) -> str:
    """An address as it is; else a path, which may lead to the server's folder or begin in it."""
    if "://" in text or text.startswith(FOLDER) or is_source(text):
        return text
    root = Path(server.settings.data_dir).resolve()
    path = Path(text).resolve()
    below = path.relative_to(root) if server.settings.data_dir and path.is_relative_to(root) else Path(text)
    return FOLDER + below.as_posix()


def _saved(chosen: argparse.Namespace, server: Server, user: User) -> RunRecord:
    """The result file as a run of the project; nothing is saved of one whose files cannot be fetched."""
    result = read_result(json_in(Path(chosen.run)))
    for origin in _places(chosen, server):
        server.watching.fetch(origin, owner=user.id)
    runs = server.runs.within(only(chosen.project))
    return runs.add(result, title=run_title(result.spec), owner=user.id)


def _list(_: argparse.Namespace) -> None:
    with _server() as server:
        for watch in _all(server):
            looked = "never" if watch.looked_at is None else _moment(watch.looked_at)
            said = state(watch) + (f" {watch.problem}" if watch.problem else "")
            print(tabbed(watch.id, watch.title, watch.every, f"looked at {looked}", said))


def _look(chosen: argparse.Namespace) -> int:
    with _server() as server:
        asked = [_one(server, watch_id) for watch_id in chosen.id]
        for watch in asked:
            server.watches.resume(watch.id)
        wanted = asked or [watch for watch in _all(server) if watch.paused is None]
        server.service.start()
        found = [_looked(server, watch) for watch in wanted]
    if failed := sum(one is None for one in found):
        raise DataError(f"{number(failed, 'look')} of {len(found):,} failed, as said above")
    return CHANGED if any(found) else 0


def _looked(server: Server, watch: Watch) -> bool | None:
    """Whether what was watched has changed; None where the look failed."""
    claimed = server.watches.take(watch.id)
    if claimed is not None:
        server.watching.look(claimed)
    now = _one(server, watch.id)
    while now.going_run is not None:
        time.sleep(WAIT_SECONDS)
        server.watching.settle()
        now = _one(server, watch.id)
    changed = now.last_run != watch.last_run
    if now.problem or now.paused:
        print(f"{watch.title}: {state(now)} {now.problem or ''}".rstrip())
        return None
    if not changed:
        print(f"{watch.title}: nothing has changed")
        return False
    step = server.history.steps(server.watches, now, limit=1)[0]
    print(f"{watch.title}: {step.headline}", *step.details, sep="\n  ")
    return True


def _remove(chosen: argparse.Namespace) -> None:
    with _server() as server:
        watch = _one(server, chosen.id)
        server.watches.delete(watch.id)
        server.audit.record(COMMAND, "delete", "watch", watch.id)


def _one(server: Server, watch_id: str) -> Watch:
    found = server.watches.get(watch_id)
    if found is None:
        raise DataError(f"no watch has the id {watch_id}; `watch list` lists them")
    return found


def _all(server: Server) -> Sequence[Watch]:
    return [
        watch for project in server.projects.all() for watch in server.watches.within(only(project.id)).all()
    ]


@contextmanager
def _server() -> Iterator[Server]:
    """The store and what computes, without the threads of a server that has visitors."""
    server = make_server(read_settings(), workers.threads)
    try:
        yield server
    finally:
        server.plans.close()
        server.service.close()
        server.database.dispose()


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
