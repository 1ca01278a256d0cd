"""``raft sheet``: a task's rows for people to vote on."""

from __future__ import annotations

import argparse
from pathlib import Path

from grasp_core.benchmark.sheet import voting_sheet
from grasp_core.benchmark.tasks import TEST_FILE, TRAIN_FILE, read_rows, read_task
from grasp_core.cli.benchmark.arguments import whole
from grasp_core.cli.terminal.messages import note
from grasp_core.cli.terminal.output import check_target, write_text
from grasp_core.model.errors import SpecError


def fill_sheet(sheet: argparse.ArgumentParser) -> None:
    """Add the command ``sheet`` to those of ``raft``."""
    sheet.set_defaults(command=_sheet)
    sheet.add_argument("--task", type=Path, required=True, metavar="TASK_DIR")
    sheet.add_argument("--voters", default="1,2,3,4,5", metavar="NAME,...", help="default: 1,2,3,4,5")
    sheet.add_argument("--items", type=whole, default=100, metavar="N", help="rows to vote on (default: 100)")
    sheet.add_argument(
        "--asked", type=whole, default=10, metavar="N", help="labelled rows to qualify on (default: 10)"
    )
    sheet.add_argument("--seed", type=whole, default=1, metavar="N", help="of the rows drawn")
    sheet.add_argument(
        "--out", type=Path, default=Path("votes.csv"), metavar="FILE", help="default: votes.csv"
    )
    sheet.add_argument(
        "--right",
        type=Path,
        default=Path("qualification.csv"),
        metavar="FILE",
        help="right labels of the rows to qualify on, not for the voters; default: qualification.csv",
    )


def _sheet(chosen: argparse.Namespace) -> None:
    for target in (chosen.out, chosen.right):
        check_target(target)
        if target.exists():  # filled in, it is somebody's work
            raise SpecError(f"{target} is there already; name another file, so that no votes are lost")
    task = read_task(chosen.task)
    train = read_rows(chosen.task / TRAIN_FILE, task, labelled=True)
    test = read_rows(chosen.task / TEST_FILE, task, labelled=False)
    voters = [name.strip() for name in chosen.voters.split(",")]
    sheet, right = voting_sheet(
        task, train, test, voters, items=chosen.items, asked=chosen.asked, seed=chosen.seed
    )
    write_text(chosen.out, sheet)
    write_text(chosen.right, right)
    print(f"{chosen.out}: each voter fills in Label, one of {', '.join(task.classes[:5])}", end="")
    print(", ..." if len(task.classes) > 5 else "")
    note(
        f"then: grasp raft human --annotations {chosen.out} --layout long --item ID --rater rater "
        f"--label Label --qualification {chosen.right} --bar 0.6"
    )
