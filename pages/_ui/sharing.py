"""The dialog in which links for people without an account are made and taken back."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

import streamlit as st

from grasp_core import server
from grasp_core.report.text import escape_markdown
from grasp_core.store.links import Link
from grasp_core.store.runs import RunRecord
from pages._ui.addresses import address
from pages._ui.permissions import may_manage, require_manage
from pages._ui.times import told, zone

_MADE, _LABEL, _TERM, _LAST_DAY = "share-made", "share-label", "share-term", "share-last-day"
_TERMS: dict[str, float | None] = {"7 days": 7, "30 days": 30, "90 days": 90, "No end": None}
_OWN_TERM = "Until a day of my choice"
_LABEL_LENGTH = 100
_DOUBLE_CLICK_S = 1.0


def share(run: RunRecord) -> None:
    """The button that opens the dialog."""
    if st.button("Share", icon=":material/share:"):
        _forget()
        _dialog(run)


def _forget() -> None:
    st.session_state.pop(_MADE, None)


@st.dialog("Share this result", width="large", on_dismiss=_forget)
def _dialog(run: RunRecord) -> None:
    st.subheader("With colleagues")
    st.write("Who may use this server finds the result here, with everything on this page:")
    st.code(address("results", run=run.id), language=None, wrap_lines=True)
    st.subheader("With people without an account")
    if not may_manage(run.owner):
        st.write("Only the person who started this run, or an admin, can make such links.")
        return
    st.write(
        "A link shows this page read-only: without names of files, notes on the data and all that would "
        f"change something. The smallest group on it has {_smallest(run)}."
    )
    _new_link(run)
    if _MADE in st.session_state:
        _show_once(*st.session_state[_MADE])
    _list(run)


def _smallest(run: RunRecord) -> str:
    sizes = [row.n_raters for row in server.shared().service.result(run.id).groups]
    smallest = min(sizes, default=0)
    if smallest == 1:
        return "1 rater, who might be recognised"
    return f"{smallest:,} raters"


def _new_link(run: RunRecord) -> None:
    left, right = st.columns(2)
    left.text_input(
        "For whom or what (optional)",
        key=_LABEL,
        max_chars=_LABEL_LENGTH,
        help="Only you and your colleagues see it, in the list below.",
    )
    term = right.selectbox("Works for", [*_TERMS, _OWN_TERM], index=1, key=_TERM)
    if term == _OWN_TERM:
        today = datetime.now(zone()).date()
        right.date_input(
            "Last day", today + timedelta(days=14), min_value=today, required=True, key=_LAST_DAY
        )
    st.button("Make a link", type="primary", icon=":material/add_link:", on_click=_make, args=(run,))


def _make(run: RunRecord) -> None:
    user = require_manage(run.owner)
    made_at, _ = st.session_state.get(_MADE, (-_DOUBLE_CLICK_S, ""))
    if time.monotonic() - made_at < _DOUBLE_CLICK_S:
        return
    token = server.shared().links.create(
        run.id,
        created_by=user.id,
        label=st.session_state.get(_LABEL, "").strip(),
        days=_days(),
    )
    st.session_state[_MADE] = time.monotonic(), address("shared", token=token)


def _days() -> float | None:
    chosen = st.session_state.get(_TERM)
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


def _list(run: RunRecord) -> None:
    links = server.shared().links.of_run(run.id)
    st.subheader("Links to this result")
    if not links:
        st.write("There are none yet.")
    for link in links:
        with st.container(border=True, key=f"link-{link.id}"):
            st.markdown(f"**{escape_markdown(link.label or 'Without a label')}** · {_state(link)}")
            st.caption(escape_markdown(" · ".join(_facts(link))))
            if link.works:
                st.button(
                    "Revoke",
                    key=f"revoke-{link.id}",
                    icon=":material/link_off:",
                    help="The link stops working at once and for good.",
                    on_click=_revoke,
                    args=(run, link.id),
                )


def _state(link: Link) -> str:
    if link.revoked_at is not None:
        return "revoked"
    return "expired" if link.expired else "works"


def _facts(link: Link) -> list[str]:
    by = f" by {link.created_by}" if link.created_by else ""
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


def _revoke(run: RunRecord, link_id: str) -> None:
    require_manage(run.owner)
    server.shared().links.revoke(link_id)
    st.session_state.pop(_MADE, None)  # it may be the one that is shown to be copied
