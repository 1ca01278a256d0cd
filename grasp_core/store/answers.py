"""Answers to what is asked about a run that is done, beside its result: computed once, kept with the run."""

from __future__ import annotations

import json
import zlib
from typing import Any

import sqlalchemy as sa

from grasp_core.model.errors import DataError
from grasp_core.store.bound import Bound
from grasp_core.store.database import to_write
from grasp_core.store.schema import answers, runs

MAX_BYTES = 2**26
"""Most that an answer may hold, unpacked."""


class AnswerStore(Bound):
    """Answers in the database, by run and name; they go when the run goes."""

    def keep(self, run_id: str, name: str, answer: Any) -> None:
        """Keep an answer's JSON-ready form in place of an earlier one; of a run deleted meanwhile, none.

        `name`: what was asked, in at most 80 characters.

        Raises DataError if it is larger than can be found again.
        """
        text = json.dumps(answer, allow_nan=False).encode("ascii")
        if len(text) > MAX_BYTES:
            raise DataError(
                f"The answer is larger than the {MAX_BYTES // 2**20} MB that are kept with a run; ask it on "
                "the command line."
            )
        content = zlib.compress(text)
        with to_write(self._engine, alone=f"answers of {run_id}") as connection:
            there = sa.select(runs.c.id).where(runs.c.id == run_id, self._seen(runs.c.project_id))
            if connection.execute(there).first() is None:
                return
            connection.execute(answers.delete().where(answers.c.run_id == run_id, answers.c.name == name))
            connection.execute(answers.insert().values(run_id=run_id, name=name, content=content))

    def find(self, run_id: str, name: str) -> Any:
        """The answer's JSON-ready form; None where it was not asked yet."""
        query = sa.select(answers.c.content).where(
            answers.c.run_id == run_id, answers.c.name == name, self._of_seen_run(answers.c.run_id)
        )
        content = self._value(query)
        return None if content is None else unpacked(content)

    def names(self, run_id: str, prefix: str) -> list[str]:
        """Names of the run's answers that begin so, in order."""
        query = sa.select(answers.c.name).where(
            answers.c.run_id == run_id,
            answers.c.name.startswith(prefix, autoescape=True),
            self._of_seen_run(answers.c.run_id),
        )
        return sorted(self._values(query))


def unpacked(content: bytes) -> Any:
    """The JSON-ready form that was packed; raises ValueError or zlib.error if it is none, or too large."""
    unpacking = zlib.decompressobj()
    text = unpacking.decompress(content, MAX_BYTES)
    if not unpacking.eof:
        raise ValueError("too large")
    return json.loads(text)
