"""Share links that a person made, withdrawn together: by themselves, or by an admin."""

from __future__ import annotations

import streamlit as st

from grasp_core import server
from grasp_core.access import User
from grasp_core.report.words.text import escape_markdown
from grasp_core.sharing import Withdrawing
from grasp_core.wording import agree, number
from pages._ui.session.identity import current_user
from pages._ui.widgets.confirming import confirm


def show_own_links(user: User) -> None:
    """The section: how many links of the visitor's work, and a way to withdraw them."""
    st.header("Share links")
    open_links = _open(user.id)
    if not open_links:
        st.write("No share link of yours is open. Links are made on *Results*, by *Share*.")
        return
    st.write(
        f"{number(open_links, 'share link')} of yours {agree(open_links, 'is', 'are')} open, in all projects."
    )
    offer_withdrawal(user.id, "Withdraw all my links", "you made")


def offer_withdrawal(person_id: str, label: str, whose: str) -> None:
    """The button that asks whether all links that a person made are to be withdrawn."""
    if st.button(label, key=f"withdraw-links-{person_id}", icon=":material/link_off:", help="Asks first"):
        _dialog(person_id, whose)


@st.dialog("Withdraw all these links?", width="medium")
def _dialog(person_id: str, whose: str) -> None:
    st.warning(
        f"{number(_open(person_id), 'link')} that {escape_markdown(whose)}, in every project: whoever has "
        "one sees nothing by it any more, at once and for good.",
        icon=":material/warning:",
    )
    confirm(withdraw_links, person_id, yes="Withdraw all of them", no="Keep them")


def withdraw_links(person_id: str) -> None:
    """Withdraw all links that a person made, if the visitor is they or an admin."""
    shared = server.shared()
    Withdrawing(shared.links, shared.audit).of_person(person_id, by=current_user())


def _open(person_id: str) -> int:
    return sum(link.goes_on for link in server.shared().links.of_person(person_id))
