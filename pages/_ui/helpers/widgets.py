"""Small widgets: choices, confirmations, warnings, downloads; the record of a shown result."""

import contextvars
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

import altair as alt
import streamlit as st
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import GraspError
from grasp_core.model.groups import axis_label, one_line
from grasp_core.model.remarks.benchmark import ranked
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import RunResult
from grasp_core.model.spec import WORKLOAD, AnalysisSpec
from grasp_core.model.text import Sentence, escape_markdown, number
from grasp_core.report.charts.theme import Theme
from grasp_core.report.writers.registry import EXPORTS, ResultExport, safe_name
from grasp_core.server import server
from grasp_core.store.runs import RunRecord
from pages._ui.helpers.screens import for_pages

K = TypeVar("K")
T = TypeVar("T")


def for_visit(key: str) -> dict[str, str]:
    """Return arguments that keep a widget's value for the visit, also while other screens are shown."""
    return {"key": key, "persist_state": "session"}


def pick(label: str, words: Mapping[K, str], *, place: Any = st, **looks: Any) -> K:
    """Draw a list of words, and return the key of the chosen one."""
    return place.selectbox(label, list(words), format_func=words.__getitem__, **looks)


def pick_question(spec: DataSpec, **looks: Any) -> int:
    """Draw a list of the questions, if there are several, and return the place of the chosen one."""
    names = {place: one_line(str(one.label)) for place, one in enumerate(spec.questions)}
    return pick("Question", names, **looks) if len(names) > 1 else 0


def switch(label: str, words: Mapping[K, str] | Sequence[K], *, place: Any = st, **looks: Any) -> K:
    """Draw words side by side, one of which is always chosen, at first the first; return its key."""
    options, named = list(words), words.__getitem__ if isinstance(words, Mapping) else str
    looks = {"default": options[0], "required": True, "format_func": named, **looks}
    return place.segmented_control(label, options, **looks)


def whole(label: str, low: int, high: int, value: int, *, place: Any = st, **looks: Any) -> int:
    """Draw a field for a whole number within bounds; its first value is moved inside them."""
    return int(place.number_input(label, low, high, min(max(value, low), high), **looks))


def choose_one(label: str, options: Sequence[str], start: str | None, **looks: Any) -> str | None:
    """Draw a list of names and return the chosen one, at first `start` if it is listed; None if none is."""
    index = list(options).index(start) if start in options else None
    return st.selectbox(label, options, index=index, **looks)


def several(label: str, options: Iterable[K], start: Iterable[K], **looks: Any) -> tuple[K, ...]:
    """Draw a list and return the chosen options, at first those in `start`."""
    known = list(dict.fromkeys(options))
    return tuple(st.multiselect(label, known, default=[one for one in start if one in known], **looks))


def put_in_address(name: str, value: str | None) -> None:
    """Set a name in the address's query, or remove it for None; for callbacks."""
    if value is not None:
        st.query_params[name] = value
    elif name in st.query_params:
        del st.query_params[name]


def follow_address(key: str, value: str | None) -> None:
    """Make the widget with this key, which is drawn next, show the address's value."""
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value


def once(name: str, about: object, compute: Callable[[], T]) -> T:
    """Return a value kept in the session under a name; compute it anew when `about` changes."""
    kept = st.session_state.get(name)
    if kept is None or kept[0] != about:
        kept = st.session_state[name] = (about, compute())
    return kept[1]


def when_open(label: str, draw: Callable[[], object], *, key: str, icon: str | None = None) -> None:
    """Draw a section whose content is computed only once somebody opens it."""
    section = st.expander(label, key=key, icon=icon, on_change="rerun")
    if section.open:
        with section:
            draw()


def menu_when_open(label: str, draw: Callable[[], object], *, key: str, **looks: Any) -> None:
    """Draw a download button that opens a menu, whose content is computed only then."""
    menu = st.popover(label, key=f"menu-{key}", icon=":material/download:", on_change="rerun", **looks)
    if menu.open:
        with menu:
            draw()


def choose_shuffles(
    names: Sequence[str], start: AnalysisSpec, key: str
) -> tuple[tuple[str, ...], str | None]:
    """Choose strata and the column of clusters; `names` are the data's axes, `key` belongs to the place."""
    columns = [name for name in names if name != WORKLOAD]
    options = [*columns, *(() if WORKLOAD in names else (WORKLOAD,))]
    labels = {name: axis_label((name,)) for name in columns}
    named = {"format_func": {**labels, WORKLOAD: "Workload (bins by number of annotations)"}.__getitem__}
    more = (
        "Profiles then move only among raters who share a value on each of these. Use it where raters who "
        "differ there were given other items, or answer otherwise for reasons that are not the question."
    )
    looks = {"placeholder": "Over all raters", "help": more, **for_visit(f"{key}-strata"), **named}
    strata = several("Shuffle profiles only within", options, start.strata, **looks)
    free = [name for name in columns if name not in strata and WORKLOAD not in strata]
    none = "Every rater alone" if free else "Not with these strata"
    more = (
        "A column of teams, batches or vendors, whose raters answer alike. Their profiles then move together."
    )
    looks = {"placeholder": none, "help": more, **for_visit(f"{key}-cluster"), **named}
    return strata, choose_one("Move whole clusters", free, start.cluster, **looks)


def time_left(seconds: float | None) -> str:
    """Return the end of a sentence on progress: the time that is left, nothing if it is not known."""
    if seconds is None:
        return ""
    if seconds < 5:
        return ", a few seconds left"
    if seconds < 90:
        return f", about {seconds:.0f} seconds left"
    if seconds < 5400:
        return f", about {seconds / 60:.0f} minutes left"
    return f", about {seconds / 3600:.1f} hours left"


def show_table(rows: Any, alt: str, **looks: Any) -> None:
    """Draw rows without row numbers; `alt` describes them to a screen reader."""
    st.dataframe(rows, hide_index=True, alt=alt, **looks)


def metrics(figures: Mapping[str, str]) -> None:
    """Draw figures side by side, each with its name."""
    for place, (name, figure) in zip(st.columns(len(figures)), figures.items(), strict=True):
        place.metric(name, figure)


def bullets(sentences: Iterable[Sentence]) -> None:
    """Draw each sentence as an entry of a list."""
    for sentence in sentences:
        st.markdown(f"- {sentence.markdown}")


def entries(texts: Iterable[str]) -> str:
    """Return plain texts as a Markdown list."""
    return "\n".join(f"- {escape_markdown(one)}" for one in texts)


FIRST = 3
"""Number of warnings shown outside the expander."""


def no_way(warning: Remark, place: int) -> None:
    """Draw no fix, for visitors who can change nothing."""


def show_warned(warnings: Sequence[Remark], way: Callable[[Remark, int], None] = no_way) -> None:
    """Draw the first three warnings, and the others in one expander."""
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
    """Draw one warning with its fix; `brief` shows only its first sentence."""
    warn(warning.in_brief if brief else str(warning))
    way(warning, place)


def caption(*said: str) -> None:
    """Draw plain texts in small letters on one line."""
    st.caption(for_pages(" · ".join(said)))


def warn(text: str) -> None:
    """Draw a plain text as a warning."""
    st.warning(for_pages(text), icon=":material/warning:")


def button(
    label: str, icon: str, do: Callable[..., object] | None = None, *args: object, **looks: Any
) -> bool:
    """Draw a button with an icon; `do` is called with `args` before the page is redrawn."""
    return st.button(label, icon=f":material/{icon}:", on_click=do, args=args, **looks)


def show_headline(
    facts: Sequence[str], buttons: Callable[[], None], headline: Sentence, line: Sentence | None
) -> None:
    """Draw a result's answer as title, the line below, and a caption with buttons, first on wide screens."""
    with st.container(key="headline"):
        st.title(headline.markdown)
        if line is not None:
            st.markdown(line.markdown)
        with st.container(key="answered", horizontal=True, vertical_alignment="center"):
            st.caption(escape_markdown(" · ".join(facts)), width="stretch")
            buttons()


# Confirmations and refusals.


def ask_first(
    label: str,
    icon: str,
    title: str,
    say: str | Callable[[], object],
    do: Callable[..., object],
    *args: object,
    answers: tuple[str, str] = ("Delete for good", "Keep it"),
    width: Literal["small", "medium"] = "medium",
    before: Callable[[], object] | None = None,
    **looks: Any,
) -> None:
    """Draw a button that opens a dialog: `say` is its content, one button calls `do`, the other closes it."""

    def asked() -> None:
        if isinstance(say, str):
            st.write(say)
        else:
            say()
        yes, no = answers
        with st.container(horizontal=True):
            if button(yes, "delete", do, *args, type="primary"):
                st.rerun()
            if st.button(no):
                st.rerun()

    if button(label, icon, before, **{"help": "Asks first", **looks}):
        st.dialog(title, width=width)(asked)()


def say_of(name: str, warning: str) -> None:
    """Draw an object's name and a warning, in the dialog before its deletion."""
    st.markdown(f"**{escape_markdown(name)}**")
    st.warning(warning, icon=":material/warning:")


@contextmanager
def show_refusal() -> Iterator[None]:
    """Show a GraspError of the block in place of what the block would draw."""
    try:
        yield
    except GraspError as error:
        st.error(for_pages(f"{error}."))


@contextmanager
def refusals(key: str) -> Iterator[None]:
    """Keep a GraspError of a callback under `key`, for :func:`say_refusal` on the next page."""
    try:
        yield
    except GraspError as error:
        st.session_state[key] = str(error)


def ask(
    title: str, draw: Callable[[], object], label: str, do: Callable[..., object], *args: object, refused: str
) -> None:
    """Open a dialog: `draw` asks, a button calls `do`; the dialog closes, or shows why that was refused."""

    def asked() -> None:
        draw()
        pressed = button(label, "check", refusals(refused)(do), *args, type="primary")
        if not say_refusal(refused) and pressed:
            st.rerun()

    st.dialog(title, width="medium")(asked)()


def say_refusal(key: str) -> bool:
    """Show once why the last action was refused; return whether it was."""
    refused: str | None = st.session_state.pop(key, None)
    if refused:
        st.error(escape_markdown(refused))
    return bool(refused)


def forget(*keys: str) -> None:
    """Remove these keys from the session."""
    for key in keys:
        st.session_state.pop(key, None)


_DOUBLE_CLICK_S = 1.0


def just_made(key: str) -> bool:
    """Return whether something was made within a second, so that a double click makes only one."""
    made_at, _ = st.session_state.get(key, (-_DOUBLE_CLICK_S, ""))
    return time.monotonic() - made_at < _DOUBLE_CLICK_S


def keep_made(key: str, text: str) -> None:
    """Keep a new token or link in the session until it is forgotten or another one replaces it."""
    st.session_state[key] = time.monotonic(), text


def show_made(key: str, what: str) -> None:
    """Show the new token or link for copying, if there is one; `what` names it in a word."""
    if key in st.session_state:
        st.success(f"Copy the {what} now: nobody can see it again.", icon=":material/check_circle:")
        st.code(st.session_state[key][1], language=None, wrap_lines=True)


# A result, and its files.


def always() -> None:
    """Refuse nobody: whoever sees the page may have its files."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A shown result, and what its visitor may see and do."""

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
        """Result that the charts show."""
        return self.charted or self.result


_EXPLAINED = {
    "csv": "Every number of every group and statistic at full precision.",
    "html": "The whole result as one file that opens in any browser, also offline.",
    "json": "Everything on this page, without any annotation; open it on Start, now or in years.",
    "spec": "The settings alone, for the command line.",
}
_MEDIA_TYPES = {
    "csv": "text/csv",
    "json": "application/json",
    "md": "text/markdown",
    "pdf": "application/pdf",
    "png": "image/png",
    "svg": "image/svg+xml",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""Media types by file extension."""

Made = Callable[[], bytes | str]


def export(
    shown: Shown, rater_map: Callable[[], RaterMap | None], names: Collection[str] = tuple(EXPORTS)
) -> None:
    """Draw a button that opens the list of files; reports contain the map of raters if it has been made."""

    def make(kind: ResultExport) -> bytes:
        exports = server.shared().exports
        with exports.turn():
            return exports.make(kind, shown.result, rater_map())

    def files() -> None:
        for kind in (EXPORTS[name] for name in EXPORTS if name in names):
            name = f"{safe_name(shown.title)}.{kind.extension}"
            looks = {"mime": kind.media_type, "help": _EXPLAINED.get(kind.name), "width": "stretch"}
            download(shown.check, kind.label, name, partial(make, kind), **looks)
        st.caption("Each figure has a menu of its own files below it.")

    menu_when_open("Export", files, key="export")


def drawn(chart: alt.LayerChart, kind: str) -> bytes:
    """Return a chart as a "png", "svg" or "pdf" file, drawn in another process."""
    exports = server.shared().exports
    with exports.turn():
        return exports.draw(chart, kind)


def downloads(check: Callable[[], None], *files: tuple[str, str, Made], **looks: str | None) -> None:
    """Draw buttons for files side by side, each with its label, name and content."""
    with st.container(horizontal=True):
        for label, name, make in files:
            download(check, label, name, make, **looks)


def download(check: Callable[[], None], label: str, file_name: str, make: Made, **looks: str | None) -> None:
    """Draw a button for one file; `check` raises if the visitor may no longer have it, see :class:`Shown`."""

    def content() -> bytes | str:
        check()
        return make()

    looks = {"mime": _MEDIA_TYPES.get(file_name.rpartition(".")[2]), "on_click": "ignore", **looks}
    st.download_button(label, as_this_session(content), file_name, icon=":material/download:", **looks)


def as_this_session(make: Callable[[], T]) -> Callable[[], T]:
    """Wrap a function that Streamlit calls outside a script's run, as it does to make a file.

    There nobody is signed in, and the session is empty. The wrapper calls the function as the session that
    draws the page now; the person's rights are checked at the call.
    """
    context, there = get_script_run_ctx(), contextvars.copy_context()

    def made() -> T:
        with ThreadPoolExecutor(1, "grasp-file", add_script_run_ctx, (None, context)) as pool:
            return pool.submit(there.run, make).result()

    return made


def page_theme() -> Theme:
    """Return light or dark, as the browser shows the page."""
    return "dark" if st.context.theme.type == "dark" else "light"
