"""The leaderboard: all systems with intervals and wins, by kind of difficulty, and compared in pairs."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from grasp_core.benchmark import leaderboard as board
from grasp_core.benchmark.jobs import Benchmark, Predictions
from grasp_core.benchmark.leaderboard import OVERALL, Entry
from grasp_core.benchmark.scoring.compare import SystemComparison
from grasp_core.benchmark.tasks import builtin_tasks
from grasp_core.engine.pools.pool import Pool
from grasp_core.model.errors import DataError
from grasp_core.model.text import json_text, number
from grasp_core.report.charts.forest import leaderboard_chart
from grasp_core.report.words.names import format_p
from grasp_core.server import server
from grasp_core.server.submitting import Told, compared_by, systems
from pages._ui.benchmark.submissions import benchmark, offer_taking_off, tasks
from pages._ui.helpers.identity import stores
from pages._ui.helpers.page_frame import outcome, start, under_way
from pages._ui.helpers.widgets import always, button, caption, downloads, drawn, pick, show_table
from pages._ui.result import cache
from pages._ui.share import share_leaderboard


def _entries() -> list[Entry]:
    """Return systems scored here, and published ones if the tasks are RAFT's or some of them."""
    return systems(stores().submissions.all(), server.shared().settings)


def show_leaderboard() -> None:
    """Draw all systems, best first by the chosen task."""
    found = _entries()
    if not found:
        st.info("No system has been scored here yet. Hand in predictions under Submit.")
        return
    with st.container(horizontal=True):
        share_leaderboard(lambda: board.leaderboard_dict(board.ranked(_entries()), list(tasks())))
        offer_taking_off()
    best = draw_leaderboard(found, list(tasks()))
    own = [entry for entry in best if entry.own]
    if own:
        st.caption(
            "Which rows a system labels wrongly is not shown: it would tell their gold labels. Whoever holds "
            "these sees the rows with the command `raft score --errors`."
        )
    _test_steps(best)
    _compare(own)


_GPT_3 = "GPT-3 (davinci)"


def draw_leaderboard(
    found: Sequence[Entry], names: Sequence[str], check: Callable[[], None] = always
) -> list[Entry]:
    """Draw chart, tables and files; return the systems, best first by the chosen task."""
    left, right = st.columns(2)
    columns = {name: _task_name(name) for name in (OVERALL, *names)}
    column = pick("Sort by", columns, place=left, key=_COLUMN, bind="query-params")
    best = board.ranked(found, column)
    named = [entry.name for entry in best]
    more = "On how many tasks each system has a higher macro-F1 than this one."
    looks = {"index": named.index(_GPT_3) if _GPT_3 in named else 0, "help": more}
    against = pick("Count wins against", dict(enumerate(named)), place=right, **looks)
    content = json_text(board.leaderboard_dict(best, names))
    chart = partial(leaderboard_chart, best, column)
    cache.chart(content, f"leaderboard {column}", best, lambda _best, theme: chart(theme))
    elsewhere = [name for name in builtin_tasks() if name not in names]
    others = [name for name in elsewhere if any(name in one.tasks for one in best)]
    table = board.leaderboard_table(best, [*names, *others])
    _draw_table(table, best, column, best[against], [*names, *others])
    if others:
        st.caption(
            f"Means are over the {number(len(names), 'task')} of this server, also of published systems; "
            "the other tasks' figures are published ones."
        )
    _draw_difficulties(best, names)
    downloads(
        check,
        ("Table (CSV)", "leaderboard.csv", lambda: table.to_csv(index=False)),
        ("All figures (JSON)", "leaderboard.json", lambda: content),
        ("Chart (PNG)", "leaderboard.png", lambda: drawn(chart(), "png")),
        ("Chart (SVG)", "leaderboard.svg", lambda: drawn(chart(), "svg")),
    )
    return best


_COLUMN = "leaderboard-column"


def _task_name(name: str) -> str:
    return "All tasks (mean)" if name == OVERALL else name


_MOST_ROWS = 25
"""Most rows of a table shown whole; a longer one scrolls."""


def _draw_table(
    table: pd.DataFrame, best: Sequence[Entry], column: str, against: Entry, names: Sequence[str]
) -> None:
    shown = table.copy()
    shown.insert(2, "interval", [board.interval_text(entry, column) for entry in best])
    shown.insert(3, "wins", [board.wins_text(entry, against) for entry in best])
    text, figure = st.column_config.TextColumn, st.column_config.NumberColumn
    first = ["system", "scored", OVERALL, *([] if column == OVERALL else [column]), "interval", "wins"]
    of_which = f"Of {_task_name(column)}; published figures have none"
    heads = {
        "system": text("System", pinned=True),
        "scored": text("Scored", help="Here, or the figures’ publication", width="small"),
        "interval": text("95 % interval", help=of_which),
        "wins": text("Wins", help="Tasks with a higher macro-F1"),
        OVERALL: figure("All tasks", format="%.3f"),
        **{name: figure(name, format="%.3f") for name in names},
    }
    looks = {"height": "content" if len(shown) <= _MOST_ROWS else "auto", "placeholder": "–"}
    looks["column_order"] = [*first, *(name for name in names if name != column)]
    show_table(shown, "Macro-F1 of every system, overall and by task", column_config=heads, **looks)
    caption(
        f"Wins: on how many tasks a system is better than {against.name}. Macro-F1 over the classes that "
        "occur, as on RAFT's leaderboard. An overall figure needs every task; a system without one has its "
        "place where a task is sorted by. Published figures come without intervals and are not ours."
    )


def _draw_difficulties(best: Sequence[Entry], names: Sequence[str]) -> None:
    known = [task for name, task in builtin_tasks().items() if name in names]
    kinds = board.difficulties(known)
    if not kinds:
        return
    text, figure = st.column_config.TextColumn, st.column_config.NumberColumn
    with st.expander("By kind of difficulty"):
        heads = {kind: figure(kind.capitalize(), format="%.3f") for kind in kinds}
        heads["system"] = text("System", pinned=True)
        alt_text = "Mean macro-F1 of every system over the tasks of each kind of difficulty"
        show_table(board.difficulty_table(best, known), alt_text, column_config=heads, placeholder="–")
        told = "; ".join(f"{kind}: {', '.join(of)}" for kind, of in kinds.items())
        caption(f"Mean macro-F1 over the tasks of a kind. {told}.")


_COMPARING, _STEPS = "leaderboard-comparing", "leaderboard-steps"


def _test_steps(best: list[Entry]) -> None:
    column = st.session_state.get(_COLUMN, OVERALL)
    pairs, held = board.steps(best, column), benchmark()
    if not pairs or held is None:
        return
    st.subheader("Is each better than the one below?")
    about = (column, tuple((lower.id, upper.id) for lower, upper in pairs))
    if button(f"Test {number(len(pairs), 'step')} of the ranking", "stairs", disabled=under_way(_STEPS)):
        store, pool = stores().submissions, server.shared().service.pool
        labels = {one: store.predictions(one) for pair in about[1] for one in pair}
        if column != OVERALL:
            labels = {one: found and {column: found[column]} for one, found in labels.items()}
        sent = [(labels[lower], labels[upper]) for lower, upper in about[1]]
        start(_STEPS, about, "Testing", partial(_tested, held, sent, pool))
    found = outcome(_STEPS, about)
    if found is None:
        return
    rows = []
    for (lower, upper), made in zip(pairs, found, strict=True):
        one = made.overall if column == OVERALL else made.tasks.get(column)
        if one is not None:
            low, high = one.ci95
            cells = _tested_cells(-one.difference, -high, -low, one.p)
            rows.append({"System": upper.name, "Against": lower.name, **cells})
    _show_tested(rows, "Each system scored here against the next one scored here")


def _tested_cells(difference: float, low: float, high: float, p: float) -> dict[str, str]:
    interval = f"{low:+.3f} to {high:+.3f}"
    return {"Difference": f"{difference:+.3f}", "95 % interval": interval, "p": format_p(p)}


def _show_tested(rows: Sequence[Mapping[str, str]], alt: str) -> None:
    show_table(rows, alt)
    st.caption("Paired permutation test over items: under chance, each item's two labels may change places.")


def _tested(
    held: Benchmark, pairs: Sequence[tuple[Predictions | None, Predictions | None]], pool: Pool, told: Told
) -> list[SystemComparison]:
    found = []
    for position, (one, other) in enumerate(pairs):
        if one is None or other is None:
            raise DataError("one of the submissions is no longer on this server")

        def so_far(done: int, of: int, task: str, before: int = position) -> None:
            told(before * of + done, len(pairs) * of, task)

        found.append(compared_by(held, one, other, pool=pool, told=so_far))
    return found


def _compare(own: list[Entry]) -> None:
    if len(own) < 2:
        return
    st.subheader("Is one better than the other?")
    shown = {entry.id: entry.name for entry in own}
    left, right = st.columns(2)
    first = pick("System", shown, place=left, key="compare-first")
    second = pick("Against", shown, place=right, index=1, key="compare-second")
    if first == second:
        st.caption("Choose two different systems.")
        return
    if button("Compare", "compare_arrows", disabled=under_way(_COMPARING)):
        held, sent = benchmark(), tuple(map(stores().submissions.predictions, (first, second)))
        if held is None or None in sent:
            st.error("The gold labels or one of the submissions is no longer on this server.")
            return
        compare = partial(_tested, held, [sent], server.shared().service.pool)
        start(_COMPARING, (first, second), "Comparing", compare)
    found = outcome(_COMPARING, (first, second))
    if found is None:
        return
    [found] = found
    tested = {**found.tasks, **({"All tasks": found.overall} if found.overall else {})}
    rows = [
        {"Task": name, **_tested_cells(one.difference, *one.ci95, one.p), "Items": f"{one.n:,}"}
        for name, one in tested.items()
    ]
    _show_tested(rows, "Difference in macro-F1 by task, with interval and p")
