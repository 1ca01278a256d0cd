"""Files fetched from tools and databases, once and again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

import streamlit as st

from grasp_core.model.errors import GraspError
from grasp_core.model.extras import command
from grasp_core.model.text import escape_markdown, number
from grasp_core.reading.connectors.fetching import Snapshot, available
from grasp_core.reading.connectors.source import KINDS, TOOLS, Kind, Source, make, parse
from grasp_core.reading.table.table import Table
from grasp_core.server import server
from pages._ui.helpers.background import waited_for
from pages._ui.helpers.identity import current_user, here, may_run
from pages._ui.helpers.navigation import go
from pages._ui.helpers.state import work, zone


@dataclass(frozen=True)
class _News:
    """A sentence about the file with this hash, and the run of the earlier one."""

    sha256: str
    sentence: str
    run: str | None = None


def tell_news(slot: str, before: Table | None, now: Table) -> None:
    """Note what is new in a file that was fetched again."""
    st.session_state.pop(_key(slot), None)
    if before is None or before.source != now.source:
        return
    if before.sha256 == now.sha256:
        sentence = f"Nothing is new: {now.name} is what it was, {number(len(now), 'row')}."
        st.session_state[_key(slot)] = _News(now.sha256, sentence)
        return
    sentence = f"{now.name} has changed: {number(len(now), 'row')}, before {len(before):,}."
    runs = here().runs
    st.session_state[_key(slot)] = _News(
        now.sha256,
        sentence,
        next(
            (run for run, _ in work().runs if before.sha256 in {found for _, found in runs.files_of(run)}),
            None,
        ),
    )


def say_news(slot: str) -> None:
    """Say it as long as that file is in use, and offer the analysis that the earlier one had."""
    news: _News | None = st.session_state.get(_key(slot))
    table: Table | None = getattr(work(), slot)
    if news is None or table is None or table.sha256 != news.sha256:
        return
    st.info(escape_markdown(news.sentence))
    if news.run is not None and st.button(
        "The same analysis again", icon=":material/replay:", key=f"{slot}-same-analysis"
    ):
        run = here().runs.get(news.run)
        if run is not None:
            work().use_settings(run.spec.analysis)
            go("analysis")


def _key(slot: str) -> str:
    return f"{slot}-news"


def fetch_watched(source: Source, token: str, *, owner: str, key: str) -> Snapshot:
    """Fetch a source for a person, with words on how far it is and a button to stop."""
    text = escape_markdown(f"Fetching {source.shown}")
    place = st.container(horizontal=True, vertical_alignment="center")
    line = place.empty()
    place.button("Cancel fetching", key=f"cancel-{key}")

    def draw(told: str = "") -> None:
        line.markdown(f":material/cloud_download: {text}{f': {escape_markdown(told)}' if told else ''}…")

    sources = server.shared().sources
    found: Snapshot = waited_for(
        lambda tell: sources.fetch(source, owner=owner, token=token, told=tell), draw
    )
    return found


Take = Callable[[Source, str, bool], bool]
"""Fetches a source with a token, which may be kept; keeps the sentence where that fails. Whether it was."""
_ROUND = "tool-round"
_ADDRESSES: Mapping[Kind, tuple[str, str]] = {
    "label-studio": ("Address of the project", "https://labels.example.org/projects/3"),
    "argilla": ("Address of the data set", "https://argilla.example.org/workspace/dataset"),
    "hf": ("Name of the data set", "organisation/name"),
    "sql": ("Address of the database", "postgresql://user@host/database"),
}
_TOKENS: Mapping[Kind, str] = {
    "label-studio": "Access token",
    "argilla": "API key",
    "hf": "Token, if it is private",
    "sql": "Password",
}


def offer_tools(take: Take) -> None:
    """A form for a source, where the server may fetch any and the visitor may run."""
    sources = server.shared().sources
    kinds, reached = sources.kinds, sources.hosts.any or sources.hosts.named
    missing = [kind for kind in KINDS if reached and not available(kind)]
    if not (kinds or missing) or not may_run():
        return
    key = f"tool-{st.session_state.setdefault(_ROUND, 0)}"
    with st.expander("From a tool or database", icon=":material/cloud_download:", key=key):
        if missing:
            tools = ", ".join(TOOLS[kind] for kind in missing)
            st.caption(f"For {tools}, packages are not installed here: {command('connectors')}.")
        if not kinds:
            return
        kind = st.selectbox("Tool", kinds, format_func=lambda kind: TOOLS[kind], key=f"{key}-kind")
        label, example = _ADDRESSES[kind]
        address = st.text_input(label, placeholder=example, key=f"{key}-{kind}-address")
        options = _options(kind, f"{key}-{kind}")
        source = _source(kind, address, options)
        token, keep = _token(kind, source, f"{key}-{kind}")
        pressed = st.button("Fetch", key=f"{key}-fetch", disabled=not address.strip())
        if pressed and source is None:
            source = _say_why(kind, address, options)
        if pressed and source is not None:
            if take(source, token, keep):
                st.session_state[_ROUND] += 1  # fresh fields: nothing typed stays, the token least of all
            st.rerun()


def offer_refresh(slot: str, table: Table, take: Take) -> None:
    """Where a file was fetched from, and a way to fetch it again."""
    source = parse(table.source)
    st.caption(escape_markdown(f"Fetched from {source.shown}"))
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


def _source(kind: Kind, address: str, options: Mapping[str, str]) -> Source | None:
    try:
        return make(kind, address, options)
    except GraspError:
        return None


def _say_why(kind: Kind, address: str, options: Mapping[str, str]) -> None:
    try:
        make(kind, address, options)
    except GraspError as error:
        st.error(escape_markdown(f"{error}."))


def _token(kind: Kind, source: Source | None, key: str) -> tuple[str, bool]:
    """A token as it is typed, and whether to keep it."""
    if source is not None and source.in_file:
        return "", False
    sources, owner = server.shared().sources, current_user().id
    kept = sources.kept(source, owner=owner) if sources.keeps and source is not None else None
    if kept is not None:
        day = datetime.fromtimestamp(kept.created_at, zone())
        st.caption(
            escape_markdown(f"Yours for {kept.site} is kept since {day.day} {day:%B %Y}: leave this empty.")
        )
    token = st.text_input(_TOKENS[kind], type="password", autocomplete="off", key=f"{key}-token")
    if not sources.keeps:
        st.caption("It is used once and not kept.")
        return token, False
    if kept is not None:
        st.button(
            "Forget the kept one",
            key=f"{key}-forget",
            on_click=sources.forget,
            args=(kept.site,),
            kwargs={"owner": owner},
        )
    keep = st.checkbox("Keep it, encrypted, for the next time", key=f"{key}-keep")
    return token, bool(keep and token)
