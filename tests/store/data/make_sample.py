"""Write the sample that later versions have to read: ``python -m tests.store.data.make_sample FILE.db``.

Beside the database what its links open, FILE.json. Run it once per version whose tables changed; the files
of earlier versions stay as they are. They are named by version and latest step; 0025 was written at 87d4e69.
"""

import hashlib
import json
import sqlite3
import sys
from pathlib import Path

import numpy as np
from sqlalchemy import URL

from grasp_core.store.database import connect
from grasp_core.store.files import FileStore
from grasp_core.store.links import LinkStore
from grasp_core.store.readings import ReadingStore
from grasp_core.store.runs import AnswerStore, RunStore
from grasp_core.store.submissions import SubmissionStore
from tests.made_up import BOARD, make_models
from tests.store.making import RESULT, claim, create

ANN, BOB = "ann@lab.example", "bob@lab.example"
VOTES = b"item,rater,label\n1,1,Yes\n"


def write(path: Path) -> None:
    engine = connect(URL.create("sqlite", database=str(path)))
    runs, links = RunStore(engine), LinkStore(engine)
    create(runs, "The answer", owner=ANN)
    done = claim(runs)
    runs.finish(done, "done", result=RESULT, duration_s=1.5)
    runs.describe(done.id, note="a note, ünïcödé", tagged=["tag"])
    AnswerStore(engine).keep(done.id, "pairs", {"axis": [1.5, None]})
    about = runs.add(make_models(), title="The models", owner=ANN)
    opens = {
        "The answer": links.create(done.id, created_by=ANN, label="for the reviewers"),
        "The models": links.create(about.id, created_by=ANN),
        "The leaderboard": links.create_leaderboard(BOARD, created_by=BOB),
    }
    withdrawn = links.create(done.id, created_by=ANN, label="withdrawn")
    links.revoke(links.of_token(withdrawn).id)
    FileStore(engine).put(VOTES, owner=ANN)
    ReadingStore(engine).remember("1" * 64, RESULT.spec.data, ("gender",), owner=ANN)
    SubmissionStore(engine).add("ours", {"overruling": {"50": "a label"}}, {"tasks": {}}, owner=BOB)
    create(runs, "The question", owner=BOB, files=(("votes.csv", hashlib.sha256(VOTES).hexdigest()),))
    running = claim(runs)
    runs.keep(running, 3, [(0, np.broadcast_to(np.arange(6.0), (3, 1, 6)))])
    runs.release(running)
    engine.dispose()
    told = {"opens": opens, "withdrawn": withdrawn}
    path.with_suffix(".json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    plain = sqlite3.connect(path)
    plain.execute("PRAGMA journal_mode=DELETE")
    plain.execute("VACUUM")
    plain.close()


if __name__ == "__main__":
    write(Path(sys.argv[1]))
