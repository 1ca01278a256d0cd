"""Share links: made with their terms, withdrawn, opened by people without an account."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import streamlit as st

from grasp_core.analysis.small_groups import LEAST, hidden_groups
from grasp_core.model.access import EVERYONE, only
from grasp_core.model.errors import AccessError, LimitError, TooOftenError
from grasp_core.model.groups import Group
from grasp_core.model.result import Result, RunResult
from grasp_core.model.text import Sentence, escape_markdown, number
from grasp_core.model.turns import ask_as, link_name
from grasp_core.report.findings.advice import first_names
from grasp_core.report.findings.selection import of_verdict
from grasp_core.server import identity as visits
from grasp_core.server import server
from grasp_core.store.links import LONGEST, MOST_USES, SHORTEST, Leaderboard, Link, LinkTerms
from grasp_core.store.runs import RunRecord
from pages._ui.helpers import identity
from pages._ui.helpers import widgets as ui
from pages._ui.helpers.screens import address
from pages._ui.helpers.state import ending, in_full, zone

_LABEL, TERM, _LAST_DAY, _PASSWORD, _USES, _SMALL = (
    f"share-{name}" for name in ("label", "term", "last-day", "password", "uses", "small-groups")
)
_TERMS: dict[str, float | None] = {"7 days": 7, "30 days": 30, "90 days": 90, "No end": None}
_OWN_TERM = "Until a day of my choice"
_LABEL_LENGTH = 100
SMALL_GROUPS = (
    "Small groups are people: whoever knows somebody in a group of two reads what that person said."
)


def _days() -> float | None:
    chosen = st.session_state.get(TERM)
    if chosen != _OWN_TERM:
        return _TERMS[chosen]
    now = datetime.now(zone())
    end = st.session_state[_LAST_DAY] + timedelta(days=1)
    midnight = datetime.combine(end, datetime.min.time(), now.tzinfo)
    return (midnight.timestamp() - now.timestamp()) / 86400  # a day may have 23 or 25 hours


_MADE, _REFUSED = "share-made", "share-refused"


@dataclass(frozen=True)
class Shareable:
    """A result that the dialog shares: its address, owner, project and links."""

    address: str
    owner: str
    project: str
    what_is_shown: Callable[[], str]
    make: Callable[..., str]
    links: Callable[[], list[Link]]
    run: str | None = None


def share_run(run: RunRecord) -> None:
    """Draw the button that opens the dialog for a run."""
    links, where = identity.stores_of(run).links, address("results", run=run.id)
    what, make, found = partial(_what_is_shown, run), partial(links.create, run.id), links.of_run
    _share(Shareable(where, run.owner, run.project, what, make, partial(found, run.id), run.id))


def share_leaderboard(snapshot: Callable[[], dict[str, Any]]) -> None:
    """Draw the button that opens the dialog; each link shows the leaderboard of the moment it was made."""
    links, project = identity.stores().links, identity.current_project()
    shown = (
        "A link shows the leaderboard as it is now, read-only: names of systems and their figures, neither "
        "predictions nor who handed them in."
    )

    def make(**how: Any) -> str:
        return links.create_leaderboard(snapshot(), **how)

    def found() -> list[Link]:
        return [link for link in links.of_leaderboards() if identity.may_manage(link.created_by, project)]

    where = address("models", **{"models-view": "Leaderboard"})
    _share(Shareable(where, identity.current_user().id, project, lambda: shown, make, found))


def _share(shared: Shareable) -> None:
    if ui.button("Share", "share"):
        _forget()
        _dialog(shared)


_forget = partial(ui.forget, _MADE, _REFUSED)


@st.dialog("Share this result", width="large", on_dismiss=_forget)
def _dialog(shared: Shareable) -> None:
    st.subheader("With colleagues")
    who = "may use this server" if shared.project == EVERYONE else "belongs to its project"
    st.write(f"Whoever {who} finds the result here, with everything on this page:")
    st.code(shared.address, language=None, wrap_lines=True)
    st.subheader("With people without an account")
    if not identity.may_manage(shared.owner, shared.project):
        st.write(
            "Only the person whose result this is, an owner of its project or an admin can make such links."
            if identity.current_user().may_run
            else identity.VIEWERS_LOOK
        )
        return
    st.write(shared.what_is_shown())
    left, right = st.columns(2)
    more = "Only you and your colleagues see it, in the list below."
    left.text_input("For whom or what (optional)", key=_LABEL, max_chars=_LABEL_LENGTH, help=more)
    term = right.selectbox("Works for", [*_TERMS, _OWN_TERM], index=1, key=TERM)
    if term == _OWN_TERM:
        today = datetime.now(zone()).date()
        last = today + timedelta(days=14)
        right.date_input("Last day", last, min_value=today, required=True, key=_LAST_DAY)
    more = f"{SHORTEST} characters or more. Tell it by another way than the link; it is kept as a hash."
    looks = {"type": "password", "autocomplete": "new-password", "max_chars": LONGEST, "help": more}
    left.text_input("Password (optional)", key=_PASSWORD, **looks)
    more = "After so many the link stops working. Whoever comes again within 12 hours counts once."
    looks = {"key": _USES, "placeholder": "Any number", "help": more}
    right.number_input("Visits (optional)", 1, MOST_USES, None, **looks)
    if shared.run is not None:
        st.checkbox(f"Show groups of fewer than {LEAST} raters too", key=_SMALL)
        st.caption(SMALL_GROUPS)
    ui.button("Make a link", "add_link", make_link, shared, type="primary")
    ui.say_refusal(_REFUSED)
    ui.show_made(_MADE, "link")
    links = shared.links()
    st.subheader("Links to this result")
    if not links:
        st.write("There are none yet.")
    names = identity.owner_names(link.created_by for link in links)
    for link in links:
        with st.container(border=True, key=f"link-{link.id}"):
            st.markdown(f"**{escape_markdown(link.label or 'Without a label')}** · {link.state}")
            ui.caption(*_facts(link, names[link.created_by]))
            if link.works:
                more = "The link stops working at once and for good."
                looks = {"key": f"withdraw-{link.id}", "help": more}
                ui.button("Withdraw", "link_off", withdraw_link, shared, link.id, **looks)
    if shared.run is not None and any(link.goes_on for link in links):
        with st.popover("Withdraw all links to this run", icon=":material/link_off:"):
            st.warning(
                "Every link to this run, whoever made it, stops working at once and for good.",
                icon=":material/warning:",
            )
            st.button("Withdraw all of them", type="primary", on_click=_withdraw_all, args=(shared,))


def _what_is_shown(run: RunRecord) -> str:
    service = server.shared().service
    found = service.result(run.id) if run.state == "done" else service.provisional(run.computed_as)
    smallest = "" if found is None else _smallest(found)
    shown = "this page read-only" + (", with its title and the models’ names" if run.spec.models else "")
    goes_on = "" if run.ended else " It shows what is found so far, and the result once it is there."
    return (
        f"A link shows {shown}: without names of files, notes on the data and all that would change "
        f"something.{smallest}{goes_on}"
    )


def _smallest(found: Result) -> str:
    """Return the size of the smallest group, or which groups are left out by default, as a sentence."""
    sizes = [row.n_raters for row in found.groups]
    hidden, small = hidden_groups(found), sum(size < LEAST for size in sizes)
    if not hidden:
        return f" The smallest group on it has {min(sizes, default=0):,} raters."
    covers = len(hidden) - small
    told = f", and {number(covers, 'other')} that would tell of them" if covers else ""
    with_fewer = f"{number(small, 'group')} with fewer than {LEAST} raters"
    nothing = ": **it would show no group at all**" if hidden and len(hidden) == len(sizes) else ""
    left_out = f" It leaves out {with_fewer}{told}{nothing}, unless you choose otherwise below."
    return left_out + _lost(found, hidden)


def _lost(found: Result, hidden: frozenset[Group]) -> str:
    """Which findings go with the groups: whoever shares the page does so for what its title says."""
    clear = of_verdict(found, "clear") if isinstance(found, RunResult) else ()
    gone = [one.said for one in clear if hidden.intersection(one.groups)]
    if not gone:
        return ""
    names = Sentence.of(*first_names(gone)).markdown
    return f" So it **does not say what was found** of {names} raters."


def make_link(shared: Shareable) -> None:
    """Make the link that the dialog describes; only once, however often the button is pressed."""
    user = identity.require_manage(shared.owner, shared.project)
    if ui.just_made(_MADE):
        return
    state = st.session_state
    label, password = state.get(_LABEL, "").strip()[:_LABEL_LENGTH], state.get(_PASSWORD) or None
    uses, small = state.get(_USES), bool(state.get(_SMALL))
    terms = LinkTerms(label=label, days=_days(), password=password, max_uses=uses, small_groups=small)
    with ui.refusals(_REFUSED):
        token = shared.make(created_by=user.id, **terms)
        details = {"address": shared.address, **visits.logged_terms(terms)}
        server.shared().audit.record(user.id, "share", "link", "", details)
        ui.keep_made(_MADE, address("shared", token=token))


def _facts(link: Link, maker: str) -> list[str]:
    by = f" by {maker}" if maker else ""
    facts = [f"made{by} {in_full(link.created_at)}", ending(link)]
    facts += ["password"] if link.has_password else []
    facts += ["small groups shown"] if link.target.small_groups else []
    facts += [] if link.max_uses is None else [f"at most {number(link.max_uses, 'visit')}"]
    if link.last_used_at is None:
        return [*facts, "never opened"]
    times = "once" if link.uses == 1 else f"{link.uses:,} times"
    return [*facts, f"opened {times}, last {in_full(link.last_used_at)}"]


def withdraw_link(shared: Shareable, link_id: str) -> None:
    """Withdraw one of this result's links, and no other."""
    user = identity.require_manage(shared.owner, shared.project)
    if link_id in [link.id for link in shared.links()]:
        server.shared().seen(only(shared.project)).links.revoke(link_id)
        server.shared().audit.record(user.id, "withdraw", "link", link_id)
    ui.forget(_MADE)  # it may be the one shown for copying


def _withdraw_all(shared: Shareable) -> None:
    user = identity.require_manage(shared.owner, shared.project)
    _forget()
    if shared.run is not None:
        links = server.shared().seen(only(shared.project)).links
        visits.withdraw_of_run(links, server.shared().audit, shared.run, by=user)


_TITLE = "Shared result"
_TAB, _TYPED, _GIVEN = "link-tab", "link-password-typed", "link-password-given"


@dataclass(frozen=True, slots=True)
class OpenedLink:
    """A link that worked when the page was drawn; it may show groups of few raters."""

    token: str
    opened: RunRecord | Leaderboard
    small_groups: bool

    def check(self) -> None:
        """Raise AccessError if the link no longer works."""
        if server.shared().links.use(self.token, count=False) is None:
            raise AccessError(visits.CLOSED)


def open_link() -> OpenedLink | None:
    """Return the address's link, counted once a visit; else say why not, or ask for a password."""
    token, given = st.query_params.get("token", ""), st.session_state.pop(_GIVEN, None)
    try:
        if not token:
            raise AccessError(visits.CLOSED)
        ask_as(link_name(token))
        tab = st.session_state.setdefault(_TAB, visits.new_visit())
        visit = visits.known(st.context.cookies.get(visits.COOKIE)) or tab
        address = st.context.ip_address  # None on this machine
        target = server.shared().visitors.open(
            token, visits.Visitor(visit, address if isinstance(address, str) else "", given)
        )
        shared = server.shared()
        opened = (shared.runs.get if target.kind == "run" else shared.links.leaderboard)(target.id)
        if opened is None:
            raise AccessError(visits.CLOSED)
        return OpenedLink(token, opened, target.small_groups)
    except visits.PasswordError as error:
        _ask(None if given is None else str(error))
    except (LimitError, TooOftenError) as error:
        _ask(str(error))
    except AccessError:
        st.title(_TITLE)
        st.info(visits.CLOSED)
    return None


def _ask(refused: str | None) -> None:
    """Ask for the password, and say why the one given before was refused."""
    st.title(_TITLE)
    st.write("This link opens with a password. Whoever sent you the link knows it.")
    with st.form("link-password-form", border=False, clear_on_submit=True):
        looks = {"type": "password", "max_chars": LONGEST, "autocomplete": "off", "key": _TYPED}
        st.text_input("Password of the link", **looks)
        st.form_submit_button("Open", type="primary", icon=":material/lock_open:", on_click=_give)
    if refused is not None:
        st.error(refused)


def _give() -> None:
    """Keep the typed password for one try."""
    st.session_state[_GIVEN] = st.session_state[_TYPED]
