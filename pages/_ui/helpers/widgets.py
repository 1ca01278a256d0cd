"""Small widgets: choices, sections that open, warnings, what was just made; a result as it is shown."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

from grasp_core.model.errors import GraspError
from grasp_core.model.groups import axis_label
from grasp_core.model.remarks.benchmark import ranked
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import RunResult
from grasp_core.model.spec import WORKLOAD, AnalysisSpec
from grasp_core.model.text import escape_markdown, number, without_options
from grasp_core.store.runs import RunRecord


def for_visit(key: str) -> dict[str, str]:
    """What keeps a widget's value for the visit, also while other screens are looked at."""
    return {"key": key, "persist_state": "session"}


def choose_one(
    label: str,
    options: Sequence[str],
    start: str | None,
    *,
    key: str,
    placeholder: str,
    more: str | None = None,
    named: Callable[[str], str] = str,
) -> str | None:
    """The name chosen; None where nothing is."""
    chosen: str | None = st.selectbox(
        label,
        options,
        index=list(options).index(start) if start in options else None,
        format_func=named,
        placeholder=placeholder,
        **for_visit(key),
        help=more,
    )
    return chosen


def confirm(
    do: Callable[..., None], *args: object, yes: str = "Delete for good", no: str = "Keep it"
) -> None:
    """The button that does it and the one that does not; either closes the dialog."""
    with st.container(horizontal=True):
        if st.button(yes, type="primary", icon=":material/delete:", on_click=do, args=args):
            st.rerun()
        if st.button(no):
            st.rerun()


def put_in_address(name: str, value: str | None) -> None:
    """Say this under a name of the address, or nothing; for callbacks."""
    if value is not None:
        st.query_params[name] = value
    elif name in st.query_params:
        del st.query_params[name]


def follow_address(key: str, value: str | None) -> None:
    """Let the widget with this key, which is drawn next, show what the address says."""
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value


T = TypeVar("T")


def as_this_session(make: Callable[[], T]) -> Callable[[], T]:
    """The function, for being called outside a script's run, as Streamlit calls what makes a file.

    There nobody has signed in and nothing is in the session. What it asks is answered here as in the run that
    draws the page now: whose session it is, that is; what they may is asked when it is called.
    """
    context, there = get_script_run_ctx(), contextvars.copy_context()

    def made() -> T:
        outcome: Future[T] = Future()

        def run() -> None:
            try:
                outcome.set_result(make())
            except BaseException as error:  # raised where it was called
                outcome.set_exception(error)

        thread = threading.Thread(target=there.run, args=(run,), name="grasp-file", daemon=True)
        add_script_run_ctx(thread, context)
        thread.start()
        return outcome.result()

    return made


def when_open(label: str, draw: Callable[[], object], *, key: str, icon: str | None = None) -> None:
    """A section that costs nothing until somebody opens it."""
    section = st.expander(label, key=key, icon=icon, on_change="rerun")
    if section.open:
        with section:
            draw()


def menu_when_open(
    label: str,
    draw: Callable[[], object],
    *,
    key: str,
    icon: str,
    type: Literal["secondary", "tertiary"] = "secondary",
) -> None:
    """A button that opens a menu, which costs nothing until then."""
    menu = st.popover(label, key=f"menu-{key}", icon=icon, type=type, on_change="rerun")
    if menu.open:
        with menu:
            draw()


def choose_shuffles(
    names: Sequence[str], start: AnalysisSpec, key: str
) -> tuple[tuple[str, ...], str | None]:
    """The strata, and the column of clusters; `names` are the data's axes, `key` belongs to the place."""
    columns = [name for name in names if name != WORKLOAD]
    options = [*columns, *(() if WORKLOAD in names else (WORKLOAD,))]
    strata: list[str] = st.multiselect(
        "Shuffle profiles only within",
        options,
        default=[name for name in start.strata if name in options],
        format_func=_stratum,
        **for_visit(f"{key}-strata"),
        placeholder="Over all raters",
        help="Profiles then move only among raters who share a value on each of these. Use it where raters "
        "who differ there were given other items, or answer otherwise for reasons that are not the question.",
    )
    free = [name for name in columns if name not in strata and WORKLOAD not in strata]
    cluster = choose_one(
        "Move whole clusters",
        free,
        start.cluster,
        key=f"{key}-cluster",
        placeholder="Every rater alone" if free else "Not with these strata",
        more="A column of teams, batches or vendors, whose raters answer alike. Their profiles then move "
        "together.",
        named=lambda name: axis_label((name,)),
    )
    return tuple(strata), cluster


def _stratum(name: str) -> str:
    return "Workload (bins by number of annotations)" if name == WORKLOAD else axis_label((name,))


FIRST = 3
"""Warnings that stand in the open."""


def no_way(warning: Remark, place: int) -> None:
    """Nothing, for who can change nothing."""


def show_warned(warnings: Sequence[Remark], way: Callable[[Remark, int], None] = no_way) -> None:
    """Draw the first three, and the others behind one expander."""
    in_order = ranked(warnings)
    for place, warning in enumerate(in_order[:FIRST]):
        show_one(warning, way, place)
    if len(in_order) > FIRST:
        with st.expander(number(len(in_order) - FIRST, "more warning"), icon=":material/warning:"):
            for place, warning in enumerate(in_order[FIRST:], start=FIRST):
                show_one(warning, way, place)


def show_one(
    warning: Remark, way: Callable[[Remark, int], None] = no_way, place: int = 0, *, brief: bool = False
) -> None:
    """Draw one warning with its way to mend it; in brief only its first sentence."""
    text = warning.in_brief if brief else str(warning)
    st.warning(escape_markdown(without_options(text)), icon=":material/warning:")
    way(warning, place)


def always() -> None:
    """Whoever sees the page may have what is on it."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A result and who looks at it."""

    key: str
    result: RunResult
    title: str
    check: Callable[[], None] = always
    charted: RunResult | None = None
    run: RunRecord | None = None
    way: Callable[[Remark, int], None] = no_way
    stranger: bool = False
    small_groups: bool = True

    @property
    def drawn(self) -> RunResult:
        """The result that charts are drawn of."""
        return self.charted or self.result


_DOUBLE_CLICK_S = 1.0


def just_made(key: str) -> bool:
    """Whether one was made this very moment: the second click of a double one makes no other."""
    made_at, _ = st.session_state.get(key, (-_DOUBLE_CLICK_S, ""))
    return time.monotonic() - made_at < _DOUBLE_CLICK_S


def keep_made(key: str, text: str) -> None:
    """Keep what was just made until it is forgotten, or another one takes its place."""
    st.session_state[key] = time.monotonic(), text


def show_made(key: str, what: str) -> None:
    """Show what was made, if there is some, to be copied; `what` it is, in a word."""
    if key in st.session_state:
        st.success(f"Copy the {what} now: nobody can see it again.", icon=":material/check_circle:")
        st.code(st.session_state[key][1], language=None, wrap_lines=True)


def show_table(rows: Any, alt: str, **looks: Any) -> None:
    """Draw rows, without their numbers; `alt` says to a screen reader what they are."""
    st.dataframe(rows, hide_index=True, alt=alt, **looks)


@contextmanager
def refusals(key: str) -> Iterator[None]:
    """In a callback: keep why something is refused, for :func:`say_refusal` on the page drawn next."""
    try:
        yield
    except GraspError as error:
        st.session_state[key] = str(error)


def tried(refused: str, do: Callable[..., object]) -> Callable[..., None]:
    """The same as a callback whose refusal is kept under a key."""

    def try_(*args: object) -> None:
        with refusals(refused):
            do(*args)

    return try_


def act(label: str, do: Callable[..., object], *args: object, refused: str) -> None:
    """A dialog's button: it closes the dialog, or the dialog says why what it does is refused."""
    pressed = st.button(
        label, type="primary", icon=":material/check:", on_click=tried(refused, do), args=args
    )
    if not say_refusal(refused) and pressed:
        st.rerun()


def say_refusal(key: str) -> bool:
    """Say, once, why what was just asked for is refused; whether it is."""
    refused: str | None = st.session_state.pop(key, None)
    if refused:
        st.error(escape_markdown(refused))
    return bool(refused)
