"""People on a benchmark's rows: a sheet to vote on, their joint score, a row of the leaderboard."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from grasp_core.benchmark.folders import MAX_FILE, RawFile
from grasp_core.benchmark.jobs import HumanDraws, HumanScores, people_labels, score_people
from grasp_core.benchmark.scoring.human import LEAST, UNVOTED
from grasp_core.benchmark.submissions import gold_labels, right_labels
from grasp_core.benchmark.tasks import TEST_FILE, TRAIN_FILE, read_rows, voting_sheet
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.model.sizes import MIB
from grasp_core.model.text import escape_markdown, listed, number
from grasp_core.reading.table.table import Table
from grasp_core.server import server
from grasp_core.server.submitting import NAME_LENGTH, scored
from grasp_core.store.submissions import SubmissionRecord
from pages._ui.benchmark.submissions import PUT, benchmark, show_instructions, tasks, tasks_with_rows
from pages._ui.data.columns import free_columns, one_question_only
from pages._ui.helpers import widgets as ui
from pages._ui.helpers.identity import current_user, may_run, require_run, stores, why_not_run
from pages._ui.helpers.page_frame import Tell, outcome, start, under_way
from pages._ui.helpers.screens import link_to
from pages._ui.helpers.state import work

_OTHERS, _FILE = "The plurality of the other raters", "A file of right labels"
_TOGETHER = "All together"
_NUMBERS = (("Votes per item", 1, 5), ("Items", 1, 100), ("Seed", 0, 1))
"""Label, smallest value, default."""
_SCORE = "human-score"


def show_human_baseline() -> None:
    """Draw the choices of votes, items, right labels and voters, then the scores with intervals."""
    session = work()
    if session.dataset is None or session.data_spec is None or session.annotations is None:
        st.info("Open the annotations whose raters are to be scored first.")
        link_to("data", "Go to Data")
        _offer_sheet()
        return
    if not one_question_only(session.data_spec):
        return
    if not may_run():
        st.info(why_not_run(current_user()) or "")
        return
    st.write(
        "What score would a few people reach? Some votes are drawn for each of some items; their plurality, "
        "ties broken at random, is compared with the right label. RAFT's own human baseline has 5 votes on "
        "100 items."
    )
    spec = session.data_spec
    options = [_OTHERS, _FILE, *free_columns(session.annotations, spec)]
    right = st.selectbox("Right label", options, **ui.for_visit(session.key("human-right")))
    file = _dropped("Right labels, a row per item: ID,Label", "human-gold") if right == _FILE else None
    votes, items, seed = (
        int(place.number_input(label, least, value=value, **ui.for_visit(f"human-{label}")))
        for place, (label, least, value) in zip(st.columns(3), _NUMBERS, strict=True)
    )
    axes = session.dataset.raters.axes
    with st.expander("Who votes: qualification, experts and crowd, pay"):
        label = f"Rows to qualify on, at least {LEAST} for each rater: ID,Label; they are not scored"
        qualifying = _dropped(label, "human-qualification")
        left, middle, last = st.columns(3)
        looks = {"step": 0.05, "key": "human-bar", "help": "Share of these rows that must be right"}
        bar = left.number_input("Bar", 0.0, 1.0, 0.6, **looks)
        more = "A column of the raters, such as one that tells experts from the crowd"
        by = middle.selectbox("Score apart by", [_TOGETHER, *axes], key=work().key("human-by"), help=more)
        pay = last.number_input("Pay for a vote", 0.0, value=0.0, step=0.01, key="human-pay")
    by = None if by == _TOGETHER else by
    what = (session.dataset.summary.sha256, spec, right, file, votes, items, seed, qualifying, bar, by)
    if ui.button("Score people", "groups", type="primary", disabled=under_way(_SCORE)):
        require_run()
        with ui.show_refusal():
            gold = _gold(session.annotations, spec, right, file)
            asked = None if qualifying is None else right_labels(qualifying)
            job = HumanDraws(session.dataset, gold, votes, items, seed, asked, bar, by)
            pool = server.shared().service.pool
            start(_SCORE, what, "Drawing votes", lambda _tell: next(pool.each(score_people, [job])))
    found = outcome(_SCORE, what)
    if found is not None:
        _show_all(found, pay)
    kinds = [""] if by is None else list(axes[by].values)
    _offer_row(HumanDraws(session.dataset, None, votes, items, seed, None, bar, by), what, qualifying, kinds)
    _offer_sheet()


def _dropped(label: str, key: str) -> RawFile | None:
    file = st.file_uploader(label, type="csv", max_upload_size=MAX_FILE // MIB, key=key)
    return None if file is None else RawFile(file.name, file.getvalue())


def _gold(annotations: Table, spec: DataSpec, right: str, file: RawFile | None) -> Mapping[str, str] | None:
    if right == _OTHERS:
        return None
    if right == _FILE:
        if file is None:
            raise DataError("drop the file of right labels first")
        return right_labels(file)
    return gold_labels(annotations, spec, right)


def _show_all(found: HumanScores, pay: float) -> None:
    if found.qualified is not None:
        who = found.qualified
        st.write(
            f"{number(len(who.passed), 'rater')} qualified; {len(who.failed):,} did not reach the bar, "
            f"{len(who.few):,} labelled too few of the rows."
        )
    for kind, score in found.scores.items():
        if kind:
            st.subheader(escape_markdown(kind))
        mean, declared = f"Mean of {score.repeats:,} draws", f"{score.macro_f1_declared:.3f}"
        figures = {"Macro-F1": f"{score.macro_f1:.3f}", "Over all labels": declared}
        ui.metrics({**figures, mean: f"{score.mean:.3f}"})
        low, high = score.ci95
        st.write(
            f"95 % interval {low:.3f} to {high:.3f}: plurality of {score.votes} on {score.n:,} of "
            f"{score.eligible:,} items that have enough votes, against {score.against}. Other draws of items "
            f"and votes differ by a standard deviation of {score.spread:.3f}."
        )
        if score.unvoted:
            ui.caption(f"{UNVOTED.capitalize()}: {listed(score.unvoted, 5)}.")
        if pay:
            extra = 0 if found.qualified is None else found.qualified.votes
            more = f" The qualification's {number(extra, 'vote')} cost {extra * pay:,.2f}." if extra else ""
            cost = score.votes * score.n * pay
            st.write(f"{number(score.votes * score.n, 'vote')} cost {cost:,.2f}.{more}")


def _offer_row(
    job: HumanDraws, what: tuple[object, ...], qualifying: RawFile | None, kinds: list[str]
) -> None:
    """Offer to score these people against the server's gold labels, like any submission."""
    held = benchmark()
    if held is None:
        st.caption(
            "As a row of a leaderboard: the command raft human with --task and --out; or here, once whoever "
            "runs this server has set GRASP_RAFT_GOLD."
        )
        return
    with st.expander("Put these people on the leaderboard"):
        left, middle, last = st.columns(3)
        task = left.selectbox("Task that the items are rows of", list(tasks()), key="human-task")
        looks = {"format_func": lambda name: name or "everybody", "key": f"human-kind-{job.by}"}
        kind = middle.selectbox("Votes of", kinds, **looks)
        looks = {"max_chars": NAME_LENGTH, "key": f"human-name-{kind}"}
        name = last.text_input("Name", f"People ({kind or 'crowd'})", **looks).strip()
        st.caption(
            "The plurality of these votes on these items is scored against this server's gold labels. No "
            "right label above is needed for it, and it counts as one of your scorings."
        )
        pressed = st.button("Put on the leaderboard", disabled=not name or under_way(PUT))
    about = (*what, task, kind, name)
    if pressed:
        owner = require_run().id
        with ui.show_refusal():
            asked = None if qualifying is None else right_labels(qualifying)
            store, pool = stores().submissions, server.shared().service.pool

            def put(tell: Tell) -> SubmissionRecord:
                labels = next(pool.each(people_labels, [replace(job, qualification=asked)]))[kind]
                how = {"name": name, "owner": owner, "store": store, "pool": pool, "told": tell, "some": True}
                return scored(held, {task: labels}, **how)

            start(PUT, about, "Drawing votes and scoring", put)
    record = outcome(PUT, about)  # shown outside the box above, which may be closed
    if record is not None:
        score = record.scores["tasks"][task]["macro_f1"]
        st.success(escape_markdown(f"{name} stands on the Leaderboard, {task}: macro-F1 {score:.3f}."))


def _offer_sheet() -> None:
    """Offer a sheet of rows to vote on, of a task whose rows the server has."""
    with st.expander("No votes yet? Make a sheet of a task's rows"):
        folder, names = tasks_with_rows()
        if folder is None or not names:
            st.write(
                "This server has no rows of the tasks. The command `raft sheet --task TASK_DIR` makes a "
                "sheet of rows to vote on; whoever runs the server can set GRASP_RAFT_TASKS to offer it here."
            )
            return
        left, middle, last = st.columns([3, 3, 1])
        chosen = left.selectbox("Task", names, key="sheet-task")
        voters = middle.text_input("Voters, separated by commas", "1, 2, 3, 4, 5", key="sheet-voters")
        items = int(last.number_input("Rows", 1, value=100, key="sheet-items"))
        task = tasks()[chosen]
        with ui.show_refusal():
            train = read_rows(folder / chosen / TRAIN_FILE, task, labelled=True)
            test = read_rows(folder / chosen / TEST_FILE, task, labelled=False)
            names = [name.strip() for name in voters.split(",")]
            sheet, right = voting_sheet(task, train, test, names, items=items)
            st.caption(
                "Each voter reads what stands here and fills in the column Label, at first for 10 labelled "
                "rows to qualify on. Dropped on Data, the sheet is then what People are scored on."
            )
            show_instructions(task)
            with st.container(horizontal=True):
                st.download_button("Sheet to vote on (CSV)", sheet, "votes.csv", "text/csv")
                st.download_button("Right labels to qualify on (CSV)", right, "qualification.csv", "text/csv")
