"""Personal tokens of the person who looks: made, shown once, listed, withdrawn."""

from __future__ import annotations

import streamlit as st

from grasp_core import server
from grasp_core.access import ROLES, User
from grasp_core.errors import LimitError
from grasp_core.people import Scope, Token
from grasp_core.report.words.text import escape_markdown
from grasp_core.store.people.tokens import NAME_LENGTH
from pages._ui.session.identity import current_user
from pages._ui.session.times import told
from pages._ui.widgets.confirming import confirm
from pages._ui.widgets.shown_once import just_made, keep_made, show_made

_MADE, _REFUSED, _NAME, _SCOPE, _TERM = (
    f"token-{name}" for name in ("made", "refused", "name", "scope", "term")
)
_TERMS = {"7 days": 7, "30 days": 30, "90 days": 90, "A year": 365}
_SCOPES: dict[Scope, str] = {
    "read": "Read: look at what you may see",
    "run": "Run: also upload, run, and manage what is yours",
    "admin": "Admin: all that you may do",
}


def show_tokens(user: User) -> None:
    """The section; a token lends a program what its person may do, and no more."""
    st.header("Tokens")
    st.write(
        "With a token, a program of yours uses this server's API as you: notebooks, pipelines, scripts. "
        "Keep it like a password. docs/api.md tells what it can do."
    )
    with st.form("token-form", border=False):
        name, scope, term = st.columns(3)
        name.text_input("What for", max_chars=NAME_LENGTH, key=_NAME)
        scope.selectbox("It may", _offered(user), format_func=_SCOPES.__getitem__, key=_SCOPE)
        term.selectbox("Works for", list(_TERMS), index=2, key=_TERM)
        st.form_submit_button("Make a token", icon=":material/key:", on_click=make_token)
    if sentence := st.session_state.pop(_REFUSED, None):
        st.error(escape_markdown(sentence))
    show_made(_MADE, "token")
    _list(server.shared().tokens.of(user.id))


def make_token() -> None:
    """Make the token that the form describes; once, however often the button is pressed."""
    user = current_user()
    if just_made(_MADE):
        return
    st.session_state.pop(_MADE, None)
    scope, days = st.session_state[_SCOPE], _TERMS[st.session_state[_TERM]]
    try:
        token = server.shared().tokens.create(
            owner=user.id, name=st.session_state[_NAME], scope=scope, days=days
        )
    except LimitError as error:
        st.session_state[_REFUSED] = str(error)
        return
    server.shared().audit.record(user.id, "token", "token", "", {"scope": scope, "days": days})
    keep_made(_MADE, token)


def _offered(user: User) -> list[Scope]:
    """Scopes that mean something for the person's role."""
    return list(_SCOPES)[: ROLES.index(user.role) + 1]


def _list(tokens: list[Token]) -> None:
    st.subheader("Your tokens")
    if not tokens:
        st.write("There are none yet.")
    for token in tokens:
        with st.container(border=True, key=f"token-{token.id}"):
            st.markdown(f"**{escape_markdown(token.name)}** · {token.scope} · {_state(token)}")
            st.caption(escape_markdown(" · ".join(_facts(token))))
            if token.works and st.button(
                f"Withdraw {escape_markdown(token.name)}",
                key=f"withdraw-{token.id}",
                icon=":material/key_off:",
                help="Asks first",
            ):
                _withdraw_dialog(token)


@st.dialog("Withdraw this token?", width="medium")
def _withdraw_dialog(token: Token) -> None:
    st.markdown(f"**{escape_markdown(token.name)}**")
    st.warning("Programs that use it are refused at once, and for good.", icon=":material/warning:")
    confirm(withdraw_token, token.id, yes="Withdraw it")


def withdraw_token(token_id: str) -> None:
    """Withdraw one of the person's own tokens, and no other."""
    user = current_user()
    if server.shared().tokens.revoke(token_id, owner=user.id):
        server.shared().audit.record(user.id, "withdraw", "token", token_id)
    st.session_state.pop(_MADE, None)  # it may be the one that is shown to be copied


def _state(token: Token) -> str:
    if token.revoked_at is not None:
        return "withdrawn"
    return "expired" if token.expired else "works"


def _facts(token: Token) -> list[str]:
    facts = [f"made {told(token.created_at)}"]
    if token.revoked_at is not None:
        facts.append(f"withdrawn {told(token.revoked_at)}")
    else:
        facts.append(f"{'ended' if token.expired else 'ends'} {told(token.expires_at)}")
    used = "never used" if token.last_used_at is None else f"last used {told(token.last_used_at)}"
    return [*facts, used]
