"""Files on Data and Start: upload, role by content, change and removal; an unreadable file replaces none."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from grasp_core.model.errors import DataError, GraspError
from grasp_core.model.text import escape_markdown, number
from grasp_core.reading.archives import containers
from grasp_core.reading.archives.stack import by_columns
from grasp_core.reading.connectors.fetching import table_of
from grasp_core.reading.connectors.source import Source
from grasp_core.reading.guess.file_roles import Role
from grasp_core.reading.guess.recognise import Guess
from grasp_core.reading.guess.tables import fitted, guessed, inside, roles_of
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from grasp_core.server import server
from grasp_core.store.runs import RunRecord
from pages._ui.data import arriving
from pages._ui.data.remembered import recalled_guess
from pages._ui.helpers.identity import current_project, may_run, require_run, stores
from pages._ui.helpers.screens import for_pages
from pages._ui.helpers.sessions import let_go
from pages._ui.helpers.state import SLOTS, table_again, work
from pages._ui.helpers.widgets import button, pick

DROP_LABEL = "Drop everything you have: labels, raters, items, in one file or several"
_HOLDS: Mapping[Role, str] = {"annotations": "labels", "raters": "raters", "items": "items"}
_TOGETHER = "All that fit together, as one per annotator does"
_ROUND, _TAKEN, _OPENED = "files-round", "files-taken", "files-opened"
_MESSAGES, _ASIDE = "files-messages", "files-aside"

Read = Callable[[str | None], Table]
"""Function that reads a sheet, or a file of an archive, by its name."""


class _Brought(NamedTuple):
    table: Table
    read: Read
    content: bytes | None = None
    """Bytes of a dropped file; None if the server reads or fetches it."""


def drop_zone() -> bool:
    """Draw the one upload for all files; return whether some were taken when the page was drawn last."""
    uploads = st.file_uploader(
        DROP_LABEL,
        accept_multiple_files=True,
        max_upload_size=int(st.get_option("server.maxUploadSize")),
        key=f"files-{st.session_state.setdefault(_ROUND, 0)}",
    )
    if not uploads:
        return st.session_state.pop(_TAKEN, False)
    before = work().files
    _take_uploads(uploads)
    for upload in uploads:
        let_go(upload)
    _next_round()
    st.session_state[_TAKEN] = work().files != before
    st.rerun()


def opened_result() -> RunRecord | None:
    """Return the saved result that was just dropped, as a run; only the first call returns it."""
    return st.session_state.pop(_OPENED, None)


def other_ways() -> None:
    """Offer files that the server fetches or reads itself, if it may."""
    arriving.offer_server_files(_take_from)
    arriving.offer_tools(_take_source)


def say_messages() -> None:
    """Show why the last files were refused, and ask about files whose content is unclear."""
    for message in st.session_state.get(_MESSAGES, ()):
        st.error(for_pages(message))
    aside: list[Table] = st.session_state.get(_ASIDE, [])
    for place, table in enumerate(aside):
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            why = "nothing in it joins to" if work().annotations is not None else "it may be"
            st.markdown(escape_markdown(f"{table.name}: {why} the labels. What does it hold?"))
            for slot in ("raters", "items", "annotations"):
                looks = {"key": f"aside-{place}-{slot}", "on_click": _take_aside, "args": (table, slot)}
                st.button(_HOLDS[slot].capitalize(), **looks)
            looks = {"key": f"aside-{place}", "on_click": _forget, "args": (table,)}
            st.button("Leave it out", type="tertiary", **looks)


def show_files(*, adding: bool = True) -> None:
    """Draw the files in use by content, each with a menu; with `adding` also the upload of another one."""
    session = work()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for slot, table in session.tables.items():
            if table is None:
                continue
            label = f"{escape_markdown(table.name)}: {_HOLDS[slot]}"
            with st.popover(label, icon=":material/check_circle:", type="tertiary", key=f"file-{slot}"):
                _one_file(slot, table)
        if adding and may_run():
            key = f"add-file-{st.session_state.setdefault(_ROUND, 0)}"  # closed once a file was taken
            with st.popover("Add a file", icon=":material/add:", type="tertiary", key=key):
                drop_zone()
                other_ways()
                arriving.offer_deletion(on_ask=_next_round)
    for slot in SLOTS:
        arriving.say_news(slot)


def _one_file(slot: Role, table: Table) -> None:
    size = f"{arriving.size_of(table.bytes)}, {len(table):,} rows, {len(table.columns):,} columns"
    st.markdown(f"**{escape_markdown(table.name)}** {escape_markdown(f'({table.kind}, {size})')}")
    key = f"{slot}-role-{work().generation}"
    looks = {"index": SLOTS.index(slot), "key": key, "on_change": _change_role, "args": (slot, key)}
    pick("This file holds", _HOLDS, **looks)
    if table.source:
        arriving.offer_refresh(slot, table, partial(_take_source, slot=slot))
    if table.members:
        key = f"{slot}-member-{table.sha256}-{table.member}"
        place = table.members.index(table.member) + 1 if table.member in table.members else 0
        looks = {"index": place, "key": key, "on_change": _take_member, "args": (slot, table, key)}
        st.selectbox("Sheet or file inside", (_TOGETHER, *table.members), **looks)
        if slot == "annotations":
            _offer_other_members(table)
    button(f"Remove the {slot} file", "close", _remove, slot, key=f"{slot}-remove")


def _offer_other_members(table: Table) -> None:
    """Offer other sheets of the labels' own file for raters and items."""
    others = [member for member in table.members if member != table.member]
    for slot in ("raters", "items"):
        if others and getattr(work(), slot) is None:
            key = f"{slot}-member-{table.sha256}"
            label, looks = f"Sheet or file inside with the {slot}", {"index": None, "placeholder": "None"}
            st.selectbox(label, others, key=key, on_change=_take_member, args=(slot, table, key), **looks)


def _take_uploads(uploads: Sequence[UploadedFile]) -> None:
    """Read and store dropped files; report those that cannot be read, and use the others."""
    st.session_state[_MESSAGES] = []
    brought: list[_Brought] = []
    for upload in uploads:
        content = upload.getvalue()
        with _refused_aloud():
            if arriving.is_saved_result(content):
                st.session_state[_OPENED] = arriving.open_result(content, upload.name)
            else:
                brought.append(_kept(content, upload.name))
    _arrange(brought)


def _kept(content: bytes, name: str) -> _Brought:
    user = require_run()
    table = arriving.read_watched(content, name, _next_round)
    server.shared().keep_file(stores().files, content, name, user.id)
    return _Brought(table, lambda member: read_table(content, name, member=member), content)


def _take_from(location: str) -> bool:
    with _refused_aloud(anew=True):
        user = require_run()
        inputs, reach = server.shared().service.inputs, user.reach(current_project(user))
        table = inputs.refer(location, owner=user.id, reach=reach)
        return _arrange([_Brought(table, lambda member: table_again(table.name, table.sha256, member))])
    return False


def _take_source(source: Source, token: str, keep: bool, slot: Role | None = None) -> bool:
    """Fetch a source and use it, in place of the `slot`'s file if given; return whether that worked."""
    before: Table | None = None if slot is None else getattr(work(), slot)
    with _refused_aloud(anew=True):
        user = require_run()
        snapshot = arriving.fetch_watched(source, token, owner=user.id, key=slot or "tool")
        if keep:
            server.shared().sources.keep(source, token, owner=user.id)
        table = table_of(snapshot)
        sha256 = server.shared().keep_file(stores().files, snapshot.content, snapshot.name, user.id, source)
        if before is None or slot is None:
            taken = _arrange([_Brought(table, lambda member: table_of(snapshot, member))])
        else:
            taken = before.sha256 == sha256 or _use({slot: table})
        if slot is not None and taken:
            arriving.tell_news(slot, before, table)
        return taken
    return False


def _arrange(brought: Sequence[_Brought]) -> bool:
    """Give each new file its role beside the files in use; return whether all could be used."""
    if not brought:
        return False
    with _refused_aloud():
        brought = _joined(brought)
        new = [one.table for one in brought]
        same = {one.sha256 for one in new}
        known = [one for one in work().tables.values() if one is not None and one.sha256 not in same]
        if len(brought) == 1 and not known:
            return _arrange_inside(brought[0])
        roles = _roles(known, new)
        slots: dict[Role, Table | None] = dict.fromkeys(SLOTS)
        for table in (*known, *new):
            if table.sha256 in roles:
                slots[roles[table.sha256]] = table
        st.session_state[_ASIDE] = [table for table in new if table.sha256 not in roles]
        return _use(slots)
    return False


def _joined(brought: Sequence[_Brought]) -> list[_Brought]:
    """Join dropped files of the same columns into one, as for a file per annotator."""
    joined: list[_Brought] = []
    for files in by_columns(brought, lambda one: one.table.columns).values():
        dropped = [(one.table.name, one.content) for one in files if one.content is not None]
        if len(files) == 1 or len(dropped) < len(files):
            joined.extend(files)
        else:
            names = [name for name, _ in dropped]
            apart = [f"{at + 1} {name}" if name in names[:at] else name for at, name in enumerate(names)]
            packed = containers.packed(zip(apart, (content for _, content in dropped), strict=True))
            joined.append(_kept(packed, f"{number(len(files), 'file')}.zip"))
    return joined


def _roles(known: Sequence[Table], new: Sequence[Table]) -> Mapping[str, Role]:
    """Return the roles of files by hash: new ones join the labels in use, or labels of their own."""
    if work().annotations in known:
        beside = roles_of([*known, *new], as_given=True)
        if None not in beside[len(known) :]:
            return _roles_by_hash([*known, *new], beside)
    alone = roles_of(new)
    if "annotations" in alone and None not in alone:
        labels = new[alone.index("annotations")]
        guess = guessed(labels)
        if len(new) > 1 or (guess.spec.layout == "long" and not guess.uncertain) or not known:
            tables = [labels, *(table for table in (*new, *known) if table is not labels)]
            return _roles_by_hash(tables, roles_of(tables, as_given=True))
    return _roles_by_hash(known, roles_of(known, as_given=True)) if known else {}


def _roles_by_hash(tables: Sequence[Table], roles: Sequence[Role | None]) -> Mapping[str, Role]:
    return {table.sha256: role for table, role in zip(tables, roles, strict=True) if role is not None}


def _arrange_inside(brought: _Brought) -> bool:
    """Use a first file; raters, and in an archive items, may be on other sheets of it."""
    table = brought.table
    found: dict[Role, Table] = inside(table, brought.read)
    return _use(found or {role: table for role in roles_of([table]) if role is not None})


def _change_role(slot: Role, key: str) -> None:
    """Swap the roles of a file and of the one, if any, that has the chosen role."""
    to, tables = st.session_state[key], work().tables
    _use_instead({to: tables[slot], slot: tables[to]})


def _take_aside(table: Table, slot: Role) -> None:
    if _use_instead({slot: table}):
        _forget(table)


def _use_instead(slots: Mapping[Role, Table | None]) -> bool:
    st.session_state[_MESSAGES] = []
    return _use(slots)


def _forget(table: Table) -> None:
    st.session_state[_ASIDE] = [one for one in st.session_state[_ASIDE] if one is not table]


def _take_member(slot: Role, table: Table, key: str) -> None:
    """Read the file's sheet that was chosen under `key`, or all of them."""
    member = None if st.session_state[key] == _TOGETHER else st.session_state[key]
    with _refused_aloud(anew=True):
        require_run()
        _use({slot: table_again(table.name, table.sha256, member)})


def _remove(slot: Role) -> None:
    st.session_state[_ASIDE] = []
    _use_instead({slot: None})


def _use(slots: Mapping[Role, Table | None]) -> bool:
    """Use these files beside those of other roles; return whether that worked."""
    session = work()
    annotations, raters, items = (session.tables | dict(slots)).values()
    with _refused_aloud():
        guess = None
        if annotations is not None:
            plain = guessed(annotations, raters, items)
            guess = _as_chosen(annotations, raters, items, plain)
            guess = guess or recalled_guess(annotations, raters, items, plain)
        session.use_files(annotations, raters, guess, items)
        return True
    return False


def _as_chosen(annotations: Table, raters: Table | None, items: Table | None, guess: Guess) -> Guess | None:
    """Return the guess with earlier choices for the same labels file; None if there are none."""
    session = work()
    chosen, before = session.chosen, session.annotations
    if chosen is None or session.guess is None or before is None or chosen == session.guess.spec:
        return None
    if (before.sha256, before.member) != (annotations.sha256, annotations.member):
        return None
    beside = ("raters_member", "items_member", "items_id", *(() if chosen.layout == "long" else ("rater",)))
    spec = replace(chosen, **{name: getattr(guess.spec, name) for name in beside})
    with suppress(DataError):
        fits = fitted(annotations, raters, spec, guess.axes, items)
        return guess.confirmed(fits.spec, fits.axes)
    return None


def _next_round() -> None:
    """Draw a new upload next; the menu around it closes, because a dialog would open below it."""
    st.session_state[_ROUND] += 1


@contextmanager
def _refused_aloud(*, anew: bool = False) -> Iterator[None]:
    """Report an error on the next page, with the file that is still in use; `anew` drops earlier reports."""
    if anew:
        st.session_state[_MESSAGES] = []
    try:
        yield
    except GraspError as error:
        kept = work().annotations
        still = f" {kept.name} is still in use." if kept else ""
        message = f"{str(error).rstrip('.')}.{still}"
        st.session_state[_MESSAGES] = [*st.session_state.get(_MESSAGES, ()), message]
