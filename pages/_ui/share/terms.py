"""The terms of a link that is about to be made."""

from __future__ import annotations

from datetime import datetime, timedelta

import streamlit as st

from grasp_core.report.small_groups.cover import LEAST
from grasp_core.store.link_records import MOST_USES, Terms
from grasp_core.store.visiting.passwords import LONGEST, SHORTEST
from pages._ui.session.times import zone

_LABEL, TERM, _LAST_DAY, _PASSWORD, _USES, _SMALL = (
    f"share-{name}" for name in ("label", "term", "last-day", "password", "uses", "small-groups")
)
_TERMS: dict[str, float | None] = {"7 days": 7, "30 days": 30, "90 days": 90, "No end": None}
_OWN_TERM = "Until a day of my choice"
_LABEL_LENGTH = 100
SMALL_GROUPS = "Small groups are people: who knows somebody in a group of two reads what that person said."


def ask_terms(*, groups: bool) -> None:
    """Fields for a link's terms, with whether small groups are shown where there are `groups`."""
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
    left.text_input(
        "Password (optional)",
        type="password",
        key=_PASSWORD,
        max_chars=LONGEST,
        autocomplete="new-password",
        help=f"{SHORTEST} characters or more. Tell it by another way than the link; it is kept as a hash.",
    )
    right.number_input(
        "Visits (optional)",
        1,
        MOST_USES,
        None,
        key=_USES,
        placeholder="Any number",
        help="After so many the link stops working. Whoever comes again within 12 hours counts once.",
    )
    if groups:
        st.checkbox(f"Show groups of fewer than {LEAST} raters too", key=_SMALL)
        st.caption(SMALL_GROUPS)


def chosen_terms() -> Terms:
    """The terms that the fields hold."""
    state = st.session_state
    return Terms(
        label=state.get(_LABEL, "").strip()[:_LABEL_LENGTH],
        days=_days(),
        password=state.get(_PASSWORD) or None,
        max_uses=state.get(_USES),
        small_groups=bool(state.get(_SMALL)),
    )


def _days() -> float | None:
    chosen = st.session_state.get(TERM)
    if chosen != _OWN_TERM:
        return _TERMS[chosen]
    now = datetime.now(zone())
    midnight = datetime.combine(
        st.session_state[_LAST_DAY] + timedelta(days=1), datetime.min.time(), now.tzinfo
    )
    return (midnight.timestamp() - now.timestamp()) / 86400  # by the clock: a day may have 23 or 25 hours
