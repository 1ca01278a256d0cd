"""Feeds of watches: made, shown once, listed, withdrawn."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from grasp_core import server
from grasp_core.errors import GraspError
from grasp_core.report.small_groups.cover import LEAST
from grasp_core.report.words.text import escape_markdown
from grasp_core.store.watches.feeds import Feed
from grasp_core.store.watches.records import Watch
from pages._ui.session.identity import current_user
from pages._ui.session.projects import here
from pages._ui.session.times import told
from pages._ui.shell.addresses import address
from pages._ui.widgets.confirming import confirm
from pages._ui.widgets.shown_once import just_made, keep_made, show_made

_MADE, _PROBLEM, _OF = "feed-made", "feed-problem", "feed-of"
_ALL = "all of my watches here"


def show_feeds(watches: Sequence[Watch]) -> None:
    """The section on feeds; without watches and feeds there is none."""
    feeds = here().feeds.of(current_user().id)
    if not watches and not feeds:
        return
    st.header("Feeds")
    st.write(
        "A feed tells your feed reader what changed. Who has its address reads it without signing in: it "
        f"holds no rater data and names no group under {LEAST} raters. Keep it like a password."
    )
    titles = {watch.id: watch.title for watch in watches}
    _offer_new(titles)
    for feed in feeds:
        _show(feed, titles)


def _offer_new(titles: dict[str, str]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "A feed of",
            [None, *titles],
            format_func=lambda one: _ALL if one is None else titles[one],
            key=_OF,
            width=400,
        )
        st.button("Make a feed", icon=":material/rss_feed:", on_click=make_feed)
    if problem := st.session_state.pop(_PROBLEM, None):
        st.error(escape_markdown(problem))
    show_made(_MADE, "address")


def make_feed() -> None:
    """Make the feed that was chosen; once, however often the button is pressed."""
    if just_made(_MADE):
        return
    st.session_state.pop(_MADE, None)
    user, watch = current_user(), st.session_state[_OF]
    try:
        token = here().feeds.create(owner=user.id, watch=watch)
    except GraspError as error:
        st.session_state[_PROBLEM] = str(error)
        return
    server.shared().audit.record(user.id, "share", "feed", "", {"watch": watch})
    keep_made(_MADE, address("api/v1/feeds/atom.xml", token=token))


def _show(feed: Feed, titles: dict[str, str]) -> None:
    name = _ALL if feed.watch is None else titles.get(feed.watch, "a watch")
    used = "never read" if feed.last_used_at is None else f"last read {told(feed.last_used_at)}"
    with st.container(border=True, key=f"feed-{feed.id}"):
        st.markdown(f"A feed of **{escape_markdown(name)}**")
        st.caption(escape_markdown(f"made {told(feed.created_at)} · {used}"))
        if st.button("Withdraw", key=f"withdraw-{feed.id}", icon=":material/link_off:", help="Asks first"):
            _withdraw_dialog(feed)


@st.dialog("Withdraw this feed?", width="medium")
def _withdraw_dialog(feed: Feed) -> None:
    st.warning("Its address leads nowhere at once, and for good.", icon=":material/warning:")
    confirm(withdraw_feed, feed.id, yes="Withdraw it")


def withdraw_feed(feed_id: str) -> None:
    """Withdraw one of the person's own feeds, and no other."""
    user = current_user()
    if here().feeds.withdraw(feed_id, owner=user.id):
        server.shared().audit.record(user.id, "withdraw", "feed", feed_id)
    st.session_state.pop(_MADE, None)  # it may be the one that is shown to be copied
