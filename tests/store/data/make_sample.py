"""Write the sample that later versions have to read: ``python -m tests.store.data.make_sample FILE``.

Run it once per released version whose tables changed; the files of earlier versions stay as they are.
"""

from __future__ import annotations

import hashlib
import sqlite3
import sys
from pathlib import Path

import numpy as np
from sqlalchemy import URL

from grasp_core.store.database import connect
from grasp_core.store.files import FileStore
from grasp_core.store.links import LinkStore
from grasp_core.store.runs import RunStore
from tests.store.making import RESULT, claim, create

VOTES = b"item,rater,label\n1,1,Yes\n"


def write(path: Path) -> None:
    engine = connect(URL.create("sqlite", database=str(path)))
    runs = RunStore(engine)
    create(runs, "The answer", owner="ann")
    done = claim(runs)
    runs.finish(done, "done", result=RESULT, duration_s=1.5)
    runs.describe(done.id, note="a note, ünïcödé", tagged=["tag"])
    LinkStore(engine).create(done.id, created_by="ann", label="for the reviewers")
    FileStore(engine).put(VOTES, owner="ann")
    create(runs, "The question", owner="bob", files=(("votes.csv", hashlib.sha256(VOTES).hexdigest()),))
    running = claim(runs)
    runs.keep(running, 3, [(0, np.broadcast_to(np.arange(6.0), (3, 1, 6)))])
    runs.release(running)
    engine.dispose()
    plain = sqlite3.connect(path)
    plain.execute("PRAGMA journal_mode=DELETE")
    plain.execute("VACUUM")
    plain.close()


if __name__ == "__main__":
    write(Path(sys.argv[1]))
