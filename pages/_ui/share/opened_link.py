"""Links that are opened, what they ask for, and whether they still work."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from grasp_core import server
from grasp_core.errors import AccessError, LimitError, TooOftenError
from grasp_core.store.links import Leaderboard, Target
from grasp_core.store.runs import RunRecord
from grasp_core.store.visiting.passwords import LONGEST
from grasp_core.turns import ask_as, link_name
from grasp_core.visitors import CLOSED, PasswordError, Visitor
from grasp_core.web.visits import COOKIE, known, new_visit

_TITLE = "Shared result"
_TAB, _TYPED, _GIVEN = "link-tab", "link-password-typed", "link-password-given"


@dataclass(frozen=True, slots=True)
class OpenedLink:
    """A link that works, or did when the page was drawn.

    `small_groups` says whether it shows groups of few raters.
    """

    token: str
    opened: RunRecord | Leaderboard
    small_groups: bool

    def check(self) -> None:
        """Refuse once the link does not work any more.

        Raises
        ------
        AccessError
            With the one sentence for all links that do not.
        """
        if server.shared().links.use(self.token, count=False) is None:
            raise AccessError(CLOSED)


def open_link() -> OpenedLink | None:
    """The link of the address, opened; counted once a visit, whatever is clicked then.

    Where there is none to open, the page says so, or asks for the link's password.
    """
    token, given = st.query_params.get("token", ""), st.session_state.pop(_GIVEN, None)
    try:
        if not token:
            raise AccessError(CLOSED)
        ask_as(link_name(token))
        return _opened(token, server.shared().visitors.open(token, _visitor(given)))
    except PasswordError as error:
        _ask(None if given is None else str(error))
    except (LimitError, TooOftenError) as error:
        _ask(str(error))
    except AccessError:
        st.title(_TITLE)
        st.info(CLOSED)
    return None


def _visitor(given: str | None) -> Visitor:
    """Who looks: known by the cookie, or where the browser keeps none, as long as the tab is open."""
    tab = st.session_state.setdefault(_TAB, new_visit())
    visit = known(st.context.cookies.get(COOKIE)) or tab
    address = st.context.ip_address  # none of this machine
    return Visitor(visit, address if isinstance(address, str) else "", given)


def _opened(token: str, target: Target) -> OpenedLink:
    shared = server.shared()
    opened = (shared.runs.get if target.kind == "run" else shared.links.leaderboard)(target.id)
    if opened is None:
        raise AccessError(CLOSED)
    return OpenedLink(token, opened, target.small_groups)


def _ask(refused: str | None) -> None:
    """Ask for the password, and say why what was given before does not do."""
    st.title(_TITLE)
    st.write("This link opens with a password. Whoever sent you the link knows it.")
    with st.form("link-password-form", border=False, clear_on_submit=True):
        st.text_input(
            "Password of the link", type="password", max_chars=LONGEST, autocomplete="off", key=_TYPED
        )
        st.form_submit_button("Open", type="primary", icon=":material/lock_open:", on_click=_give)
    if refused is not None:
        st.error(refused)


def _give() -> None:
    """Take what was typed, for one try."""
    st.session_state[_GIVEN] = st.session_state[_TYPED]
