"""Incoming files: uploads, the server's own folder and addresses, tools and databases, saved results."""

import json
import shlex
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from grasp_core.analysis.results import read_result
from grasp_core.model.errors import DataError, GraspError
from grasp_core.model.example import example_files, example_spec
from grasp_core.model.extras import command
from grasp_core.model.sizes import MIB, check_size
from grasp_core.model.text import escape_markdown, number
from grasp_core.reading.connectors.fetching import Snapshot
from grasp_core.reading.connectors.source import KINDS, TOOLS, Kind, Source, make, parse
from grasp_core.reading.guess.tables import AT_ONCE, guessed, loaded
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.sources.allowed import FOLDER, MAX_LISTED, AllowedSources, Listing
from grasp_core.reading.table.table import Table
from grasp_core.report.contents import run_title
from grasp_core.server import server
from grasp_core.store.runs import RunRecord
from pages._ui.helpers.identity import current_user, may_run, require_run, stores
from pages._ui.helpers.page_frame import waited_for
from pages._ui.helpers.screens import go
from pages._ui.helpers.state import on_day, submit, work
from pages._ui.helpers.widgets import ask_first, button, caption, forget, pick, warn


def offer_deletion(on_ask: Callable[[], None] | None = None) -> None:
    """Draw a sentence and, while there are files, the button that asks; it calls `on_ask` first."""
    hours = server.shared().settings.keep_files_hours
    span = f"{hours:g} hour{'' if hours == 1 else 's'}"
    st.caption(
        f"Uploaded files are deleted {span} after they were last used, or when the last run that needs them "
        "has ended if that is later. Results hold no annotation and stay."
    )
    files, label = work().hashes, "Delete the uploaded files now"
    if files:
        say, looks = partial(_say_what_goes, files), {"answers": ("Delete them", "Keep them"), "help": None}
        ask_first(label, "delete", f"{label}?", say, _delete, files, before=on_ask, **looks)


def _say_what_goes(files: list[str]) -> None:
    st.write(
        "They leave this visit at once, and this server unless a colleague brought the same file first; "
        "finished results stay."
    )
    going = stores().runs.waiting_for(files)
    if going:
        runs = "One run that is" if going == 1 else f"{going} runs that are"
        warn(
            f"{runs} still going may need these files: a run that waits, or has to begin again after a "
            "restart of the server, then fails and says so."
        )


def _delete(files: list[str]) -> None:
    user = require_run()
    for sha256 in files:
        stores().files.delete(sha256, owner=user.id)
        server.shared().audit.record(user.id, "delete", "file", sha256)
    work().use_files(None, None)


_SERVER_ROUND, _TOOL_ROUND = "server-round", "tool-round"


def offer_server_files(take: Callable[[str], bool]) -> None:
    """Draw a list of files and a field for an address, if allowed; `take` returns whether it was read."""
    allowed = server.shared().service.inputs.allowed
    if not allowed or not may_run():
        return
    key = f"server-{st.session_state.setdefault(_SERVER_ROUND, 0)}"
    with st.expander("From this server", icon=":material/folder_open:", key=key):
        chosen = [_picked(key, allowed), _named(key, allowed)]
    location = next(filter(None, chosen), None)
    if location is not None:
        with st.spinner("Reading…"):
            if take(location):
                st.session_state[_SERVER_ROUND] += 1  # a new picker, closed: the file is listed below it
        st.rerun()


def _picked(key: str, allowed: AllowedSources) -> str | None:
    if allowed.folder is None:
        return None
    search = st.text_input("Search by name", key=f"{key}-search", placeholder="Part of a path")
    listing = _listing(allowed, server.shared().settings.data_dir, search)
    shown = {}
    for one in listing.entries:
        name = f"{one.path}/ (Parquet folder, " if one.parquet_folder else f"{one.path} ("
        shown[one.path] = f"{name}{size_of(one.bytes)}, {on_day(one.changed, '%b')})"
    if not shown:
        st.caption(f"Nothing is called so in the server's folder{'' if search.strip() else ': it is empty'}.")
        return None
    placeholder = f"{len(shown):,} to choose from"
    path = pick("File on the server", shown, index=None, placeholder=placeholder, key=f"{key}-file")
    if listing.more:
        st.caption(f"Only the first {MAX_LISTED:,} are shown; search for the others.")
    pressed = st.button("Take this file", key=f"{key}-take", disabled=path is None)
    return FOLDER + path if pressed and path is not None else None


def _named(key: str, allowed: AllowedSources) -> str | None:
    if not allowed.prefixes:
        return None
    known = ", ".join(prefix.url for prefix in allowed.prefixes)
    url = st.text_input("Address of the file", key=f"{key}-url", placeholder="https://…")
    caption(f"The server may read what is below {known}")
    pressed = st.button("Read this address", key=f"{key}-read", disabled=not url)
    return url.strip() if pressed and url else None


@st.cache_data(ttl=10, max_entries=64, show_spinner=False)
def _listing(_allowed: AllowedSources, folder: str, search: str) -> Listing:
    return _allowed.listing(search)


def size_of(count: int) -> str:
    """Format a size like "1.2 MB"."""
    return f"{count / 1e6:,.1f} MB" if count >= 1e5 else f"{count / 1e3:,.1f} kB"


def read_watched(content: bytes, name: str, cancel: Callable[[], None]) -> Table:
    """Read a file; a large one with progress and a button to stop."""
    if len(content) <= AT_ONCE:
        return read_table(content, name)
    text = escape_markdown(f"Reading {name}")
    with st.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, text)
        st.button("Cancel reading", on_click=cancel, key=f"cancel-{name}")
    table: Table = waited_for(
        lambda tell: read_table(content, name, watch=tell),
        lambda done=0, total=1: bar.progress(min(done / max(total, 1), 1.0), text),
    )
    bar.empty()
    return table


MAX_RESULT_MB = 50
_MAX_VALUES = 4_000_000
_BEGINNING, _MARK = 200, b'"grasp-'


def is_saved_result(content: bytes) -> bool:
    """Return whether a file begins like the results that GRASP writes."""
    return _MARK in content[:_BEGINNING]


def open_result(content: bytes, name: str) -> RunRecord:
    """Store a saved result as a run of the project."""
    user = require_run()
    try:
        check_size(len(content), MAX_RESULT_MB * MIB, name, "a saved result")
        result = read_result(_json(content))
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    run = stores().runs.add(result, title=run_title(result.spec), owner=user.id)
    work().remember(run)
    return run


def _json(content: bytes) -> object:
    if sum(map(content.count, (b",", b"[", b"{"))) > _MAX_VALUES:  # each takes many bytes once parsed
        raise DataError(
            f"this has more than {_MAX_VALUES:,} values; expected the result file that GRASP wrote"
        )
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:  # e.g. a number of thousands of digits
        place = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError(f"this is not JSON{place}; expected the result file that GRASP wrote") from None


def tell_news(slot: str, before: Table | None, now: Table) -> None:
    """Note the changes of a file that was fetched again, and the run of its earlier version."""
    forget(f"{slot}-news")
    if before is None or before.source != now.source:
        return
    run = None
    if before.sha256 == now.sha256:
        sentence = f"Nothing is new: {now.name} is what it was, {number(len(now), 'row')}."
    else:
        sentence = f"{now.name} has changed: {number(len(now), 'row')}, before {len(before):,}."
        files_of = stores().runs.files_of
        of_before = (id for id, _ in work().runs if before.sha256 in {sha for _, sha in files_of(id)})
        run = next(of_before, None)
    st.session_state[f"{slot}-news"] = (now.sha256, sentence, run)


def say_news(slot: str) -> None:
    """Show the news while that file is in use, and offer the analysis of its earlier version."""
    sha256, sentence, run_id = st.session_state.get(f"{slot}-news", (None, "", None))
    table: Table | None = getattr(work(), slot)
    if table is None or table.sha256 != sha256:
        return
    st.info(escape_markdown(sentence))
    if run_id and button("The same analysis again", "replay", key=f"{slot}-same-analysis"):
        run = stores().runs.get(run_id)
        if run is not None:
            work().use_settings(run.spec.analysis)
            go("analysis")


def fetch_watched(source: Source, token: str, *, owner: str, key: str) -> Snapshot:
    """Fetch a source for a person, with its progress in words and a button that stops it."""
    text = escape_markdown(f"Fetching {source.shown}")
    place = st.container(horizontal=True, vertical_alignment="center")
    line = place.empty()
    place.button("Cancel fetching", key=f"cancel-{key}")

    def draw(told: str = "") -> None:
        line.markdown(f":material/cloud_download: {text}{f': {escape_markdown(told)}' if told else ''}…")

    fetch = partial(server.shared().sources.fetch, source, owner=owner, token=token)
    return waited_for(lambda tell: fetch(told=tell), draw)


Take = Callable[[Source, str, bool], bool]
"""Function that fetches a source with a token, may store the token, and returns True or notes the failure."""
_ASKED: Mapping[Kind, tuple[str, str, str]] = {
    "label-studio": ("Address of the project", "https://labels.example.org/projects/3", "Access token"),
    "argilla": ("Address of the data set", "https://argilla.example.org/workspace/dataset", "API key"),
    "hf": ("Name of the data set", "organisation/name", "Token, if it is private"),
    "sql": ("Address of the database", "postgresql://user@host/database", "Password"),
}
"""Label of the address, an example of it, and label of the token."""


def offer_tools(take: Take) -> None:
    """Draw the tools and a form for one, if the server may fetch from any and the visitor may run."""
    sources = server.shared().sources
    there = sources.kinds
    kinds = KINDS if sources.hosts.any or sources.hosts.named else there
    if not kinds or not may_run():
        return
    key = f"tool-{st.session_state.setdefault(_TOOL_ROUND, 0)}"
    with st.expander("From a tool or database", icon=":material/cloud_download:", key=key):
        looks = {"format_func": lambda kind: TOOLS[kind].name, "index": None, "key": f"{key}-kind"}
        says = [_ASKED[kind][1] if kind in there else "Its package is missing here" for kind in kinds]
        kind = st.radio("Tool", kinds, captions=[escape_markdown(text) for text in says], **looks)
        if kind is None:
            return
        if kind not in there:
            st.write(f"{TOOLS[kind].name} needs a package that is not installed here. This brings it:")
            st.code(_bringing(), language=None, wrap_lines=True)
            st.caption("Then load this page again.")
            return
        label, example, _ = _ASKED[kind]
        address = st.text_input(label, placeholder=example, key=f"{key}-{kind}-address")
        options = _options(kind, f"{key}-{kind}")
        source, refusal = None, None
        try:
            source = make(kind, address, options)
        except GraspError as error:
            refusal = f"{error}."
        token, keep = _token(kind, source, f"{key}-{kind}")
        pressed = st.button("Fetch", key=f"{key}-fetch", disabled=not address.strip())
        if pressed and refusal is not None:
            st.error(escape_markdown(refusal))
        if pressed and source is not None:
            if take(source, token, keep):
                # New, empty fields: nothing typed stays, above all no token.
                st.session_state[_TOOL_ROUND] += 1
            st.rerun()


def _bringing() -> str:
    """Return the command that installs the tools' clients; on one's own machine for the serving Python."""
    brings = command("connectors")
    own = server.shared().settings.own_machine
    return f"{shlex.quote(sys.executable)} -m {brings}" if own else brings


def offer_refresh(slot: str, table: Table, take: Take) -> None:
    """Show a file's source, and a button that fetches it again."""
    source = parse(table.source)
    caption(f"Fetched from {source.shown}")
    if not may_run():
        return
    round_key = f"{slot}-again-round"
    key = f"{slot}-again-{st.session_state.setdefault(round_key, 0)}"
    with st.popover("Fetch again", icon=":material/sync:", key=key):
        token, keep = _token(source.kind, source, key)
        if st.button("Bring what is new", key=f"{key}-fetch"):
            take(source, token, keep)
            st.session_state[round_key] += 1
            st.rerun()


def _options(kind: Kind, key: str) -> dict[str, str]:
    if kind == "hf":
        split = st.text_input("Split", placeholder="train", key=f"{key}-split")
        config = st.text_input("Configuration, if it has several", key=f"{key}-config")
        return {"split": split, "config": config}
    if kind == "sql":
        table = st.text_input("Table", placeholder="votes", key=f"{key}-table")
        query = st.text_area("Or a query", placeholder="SELECT item, rater, label FROM …", key=f"{key}-query")
        return {"table": table, "query": query}
    return {}


def _token(kind: Kind, source: Source | None, key: str) -> tuple[str, bool]:
    if source is not None and source.in_file:
        return "", False
    sources, owner = server.shared().sources, current_user().id
    kept = sources.kept(source, owner=owner) if sources.keeps and source is not None else None
    if kept is not None:
        caption(f"Yours for {kept.site} is kept since {on_day(kept.created_at)}: leave this empty.")
    token = st.text_input(_ASKED[kind][2], type="password", autocomplete="off", key=f"{key}-token")
    if not sources.keeps:
        st.caption("It is used once and not kept.")
        return token, False
    if kept is not None:
        forget_it = partial(sources.forget, kept.site, owner=owner)
        st.button("Forget the kept one", key=f"{key}-forget", on_click=forget_it)
    keep = st.checkbox("Keep it, encrypted, for the next time", key=f"{key}-keep")
    return token, bool(keep and token)


def try_example() -> RunRecord:
    """Load the example as if its files had been dropped, and start its run."""
    user = require_run()
    session = work()
    spec = example_spec()
    started = time.perf_counter()
    files = example_files()
    for name, content in files.items():
        stores().files.put(content, owner=user.id, name=name)
    annotations, raters = (read_table(content, name) for name, content in files.items())
    dataset = loaded(annotations, raters, spec.data)
    guess = guessed(annotations, raters)
    session.use_files(annotations, raters, guess.confirmed(spec.data, guess.axes))
    session.use_dataset(dataset, spec.data, time.perf_counter() - started)
    session.use_settings(spec.analysis)
    return submit(dataset, spec, session.load_s)
