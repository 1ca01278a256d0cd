"""The dialog in which links for people without an account are made and taken back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import streamlit as st

from grasp_core import server
from grasp_core.access import EVERYONE, only
from grasp_core.report.text import escape_markdown
from grasp_core.store.links import Link
from grasp_core.store.runs import RunRecord
from pages._ui.session.identity import current_user, owner_names
from pages._ui.session.permissions import VIEWERS_LOOK, may_manage, require_manage
from pages._ui.session.projects import current_project, here, stores_of
from pages._ui.session.times import told, zone
from pages._ui.shell.addresses import address

MADE, _LABEL, TERM, _LAST_DAY = "share-made", "share-label", "share-term", "share-last-day"
_TERMS: dict[str, float | None] = {"7 days": 7, "30 days": 30, "90 days": 90, "No end": None}
_OWN_TERM = "Until a day of my choice"
_LABEL_LENGTH = 100
_DOUBLE_CLICK_S = 1.0
_GOES_ON = " It shows what is found so far, and the result once it is there."


@dataclass(frozen=True)
class Shareable:
    """A result as the dialog has to know it.

    Parameters
    ----------
    address : str
        Where colleagues find it.
    owner, project : str
        Whose it is, and where; they, owners of the project and admins make links.
    what_is_shown : str
        A sentence or two on what a stranger sees.
    make : callable
        Makes a link of `created_by`, `label` and `days`, and returns its token.
    links : callable
        The links to it, latest first.
    """

    address: str
    owner: str
    project: str
    what_is_shown: str
    make: Callable[..., str]
    links: Callable[[], list[Link]]


def share_run(run: RunRecord) -> None:
    """The button that opens the dialog for a run."""
    service = server.shared().service
    found = service.result(run.id) if run.state == "done" else service.provisional(run.id)
    smallest = "" if found is None else _smallest([row.n_raters for row in found.groups])
    shown = "this page read-only" + (", with its title and the models’ names" if run.spec.models else "")
    share(
        Shareable(
            address("results", run=run.id),
            run.owner,
            run.project,
            f"A link shows {shown}: without names of files, notes on the data and all that would change "
            f"something.{smallest}{'' if run.ended else _GOES_ON}",
            partial(stores_of(run).links.create, run.id),
            lambda: stores_of(run).links.of_run(run.id),
        )
    )


def share_leaderboard(snapshot: Callable[[], dict[str, Any]]) -> None:
    """The button that opens the dialog for the leaderboard; each link opens what it was made of."""
    links, project = here().links, current_project()
    share(
        Shareable(
            address("models", **{"models-view": "Leaderboard"}),
            current_user().id,
            project,
            "A link shows the leaderboard as it is now, read-only: names of systems and their figures, "
            "neither predictions nor who handed them in.",
            lambda **how: links.create_leaderboard(snapshot(), **how),
            lambda: [link for link in links.of_leaderboards() if may_manage(link.created_by, project)],
        )
    )


def share(shared: Shareable) -> None:
    """The button that opens the dialog."""
    if st.button("Share", icon=":material/share:"):
        _forget()
        _dialog(shared)


def _forget() -> None:
    st.session_state.pop(MADE, None)


@st.dialog("Share this result", width="large", on_dismiss=_forget)
def _dialog(shared: Shareable) -> None:
    st.subheader("With colleagues")
    who = "may use this server" if shared.project == EVERYONE else "belongs to its project"
    st.write(f"Who {who} finds the result here, with everything on this page:")
    st.code(shared.address, language=None, wrap_lines=True)
    st.subheader("With people without an account")
    if not may_manage(shared.owner, shared.project):
        st.write(
            "Only the person whose result this is, an owner of its project or an admin can make such links."
            if current_user().may_run
            else VIEWERS_LOOK
        )
        return
    st.write(shared.what_is_shown)
    _new_link(shared)
    if MADE in st.session_state:
        _show_once(*st.session_state[MADE])
    _list(shared)


def _smallest(sizes: list[int]) -> str:
    smallest = min(sizes, default=0)
    raters = "1 rater, who might be recognised" if smallest == 1 else f"{smallest:,} raters"
    return f" The smallest group on it has {raters}."


def _new_link(shared: Shareable) -> None:
    left, right = st.columns(2)
    left.text_input(
        "For whom or what (optional)",
        key=_LABEL,
        max_chars=_LABEL_LENGTH,
        help="Only you and your colleagues see it, in the list below.",
    )
    term = right.selectbox("Works for", [*_TERMS, _OWN_TERM], index=1, key=TERM)
    if term == _OWN_TERM:
        today = datetime.now(zone()).date()
        right.date_input(
            "Last day", today + timedelta(days=14), min_value=today, required=True, key=_LAST_DAY
        )
    st.button("Make a link", type="primary", icon=":material/add_link:", on_click=make_link, args=(shared,))


def make_link(shared: Shareable) -> None:
    """Make a link to what is shared, as the dialog says; once, however often the button is pressed."""
    user = require_manage(shared.owner, shared.project)
    made_at, _ = st.session_state.get(MADE, (-_DOUBLE_CLICK_S, ""))
    if time.monotonic() - made_at < _DOUBLE_CLICK_S:
        return
    token = shared.make(
        created_by=user.id,
        label=st.session_state.get(_LABEL, "").strip()[:_LABEL_LENGTH],
        days=_days(),
    )
    server.shared().audit.record(user.id, "share", "link", "", {"address": shared.address, "days": _days()})
    st.session_state[MADE] = time.monotonic(), address("shared", token=token)


def _days() -> float | None:
    chosen = st.session_state.get(TERM)
    if chosen != _OWN_TERM:
        return _TERMS[chosen]
    now = datetime.now(zone())
    midnight = datetime.combine(
        st.session_state[_LAST_DAY] + timedelta(days=1), datetime.min.time(), now.tzinfo
    )
    return (midnight.timestamp() - now.timestamp()) / 86400  # by the clock: a day may have 23 or 25 hours


def _show_once(_made_at: float, link: str) -> None:
    st.success("Copy the link now: nobody can see it again.", icon=":material/check_circle:")
    st.code(link, language=None, wrap_lines=True)


def _list(shared: Shareable) -> None:
    links = shared.links()
    st.subheader("Links to this result")
    if not links:
        st.write("There are none yet.")
    names = owner_names(link.created_by for link in links)
    for link in links:
        with st.container(border=True, key=f"link-{link.id}"):
            st.markdown(f"**{escape_markdown(link.label or 'Without a label')}** · {_state(link)}")
            st.caption(escape_markdown(" · ".join(_facts(link, names[link.created_by]))))
            if link.works:
                st.button(
                    "Revoke",
                    key=f"revoke-{link.id}",
                    icon=":material/link_off:",
                    help="The link stops working at once and for good.",
                    on_click=revoke_link,
                    args=(shared, link.id),
                )


def _state(link: Link) -> str:
    if link.revoked_at is not None:
        return "revoked"
    return "expired" if link.expired else "works"


def _facts(link: Link, maker: str) -> list[str]:
    by = f" by {maker}" if maker else ""
    facts = [f"made{by} {told(link.created_at)}"]
    if link.revoked_at is not None:
        facts.append(f"revoked {told(link.revoked_at)}")
    elif link.expires_at is None:
        facts.append("no end")
    else:
        facts.append(f"{'ended' if link.expired else 'ends'} {told(link.expires_at)}")
    times = "once" if link.uses == 1 else f"{link.uses:,} times"
    if link.last_used_at is None:
        return [*facts, "never opened"]
    return [*facts, f"opened {times}, last {told(link.last_used_at)}"]


def revoke_link(shared: Shareable, link_id: str) -> None:
    """Revoke one of the links to what is shared, and no other."""
    user = require_manage(shared.owner, shared.project)
    if link_id in [link.id for link in shared.links()]:
        server.shared().seen(only(shared.project)).links.revoke(link_id)
        server.shared().audit.record(user.id, "withdraw", "link", link_id)
    st.session_state.pop(MADE, None)  # it may be the one that is shown to be copied
