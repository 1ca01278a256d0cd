"""Real server processes: killed at any instant, and several on one database."""

import io
import random
import time
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
import sqlalchemy as sa
from sqlalchemy import URL, NullPool

from grasp_core.store.schema import checkpoints, tallies
from tests.engine.asking import known_answer, wait_until
from tests.engine.serving import ask, ended, now, result_digits, serving
from tests.store.conftest import NewDatabase
from tests.store.crashing import Servers, servers
from tests.store.postgres import Postgres

KILLS = 20
PERMUTATIONS = 60_000


def saved(url: URL) -> tuple[dict[tuple[int, int], bytes], bytes | None]:
    """The blocks in the database and the counts in their place, read as anybody would."""
    engine = sa.create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        rows = connection.execute(sa.select(checkpoints))
        blocks = {(row.start, row.stop): row.shuffled for row in rows}
        return blocks, connection.execute(sa.select(tallies.c.state)).scalar_one_or_none()


def permutations(blocks: dict[tuple[int, int], bytes], state: bytes | None) -> set[int]:
    """What they stand for."""
    ranges = list(blocks)
    if state is not None:
        assert not blocks
        with np.load(io.BytesIO(state)) as arrays:
            ranges = arrays["done"].tolist()
            n = arrays["tails"][:, 0]
        assert n.max() == sum(stop - start for start, stop in ranges)  # counted once
    return {b for start, stop in ranges for b in range(start, stop)}


@pytest.fixture(scope="module")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with servers(tmp_path_factory.mktemp("servers") / "log") as started:
        yield started


@pytest.fixture
def made(parent: Servers) -> Iterator[Servers]:
    """Starts servers of this test, which are gone after it, and what they have computed."""
    parent.log.write_text("")
    yield parent
    parent.end()


@pytest.mark.long
def test_killed_at_any_instant_nothing_saved_is_lost(new_database: NewDatabase, made: Servers) -> None:
    chance = random.Random(20)
    url = new_database()
    with serving(url, started=False) as watching:
        record = ask(watching, with_files=True, permutations=PERMUTATIONS)
        before: dict[tuple[int, int], bytes] = {}
        had: set[int] = set()
        counted = 0
        for kill in range(KILLS):
            earlier = len(made.computed())
            pid = made.start(url, lease=0.2)
            if chance.random() < 0.8:  # while it computes and saves; else while it starts, claims or reads
                blocks = chance.randint(1, 5)
                wait_until(lambda wanted=earlier + blocks: len(made.computed()) >= wanted)
            if kill == KILLS // 2:
                wait_until(lambda: saved(url)[1] is not None)
            time.sleep(chance.uniform(0.0, 0.1))
            made.kill(pid)
            after, state = saved(url)
            if state is None:
                assert before.items() <= after.items()  # bit by bit
            has = permutations(after, state)
            assert had <= has
            before, had, counted = after, has, counted + (state is not None)
            assert now(watching, record).done <= len(has)
        assert 0 < counted < KILLS  # killed while blocks were saved, and while counts were
        left = now(watching, record)
        assert left.state == "running"
        assert 0 < left.done < PERMUTATIONS
        last = made.start(url, lease=0.2)
        assert result_digits(watching, record) == known_answer(permutations=PERMUTATIONS)
        assert saved(url) == ({}, None)
        blocks = made.computed()
        again = [b for pid, _, start, stop in blocks if pid == last for b in range(start, stop)]
        # The last server computed what was missing, and nothing that had been saved.
        assert sorted(again) == sorted(set(range(PERMUTATIONS)) - had)
        computed = sum(stop - start for *_, start, stop in blocks)
        print(
            f"\n{url.drivername}: {now(watching, record).attempt} attempts, {len(had)} permutations saved"
            f" before the last, {counted} attempts ended while counting,"
            f" {computed - PERMUTATIONS} of {PERMUTATIONS} permutations computed twice"
        )


@pytest.mark.long
def test_two_servers_never_compute_a_run_twice(postgres: Postgres, made: Servers) -> None:
    url = postgres.new_database()
    with serving(url, started=False) as watching:
        both = {made.start(url), made.start(url)}
        asked = []
        while len(asked) < 12 or {pid for pid, *_ in made.computed()} != both:
            assert len(asked) < 100
            owner = f"user {len(asked) % 3}"
            record = ask(watching, with_files=True, owner=owner, permutations=400, seed=len(asked) + 1)
            asked.append(record)
            if len(asked) >= 12:
                ended(watching, record)
        for record in asked:
            done = ended(watching, record)
            assert (done.state, done.error, done.attempt) == ("done", None, 1)
        counted: Counter[int] = Counter()
        for _, seed, start, stop in made.computed():
            counted[seed] += stop - start
        assert counted == {record.spec.analysis.seed: 400 for record in asked}
        assert result_digits(watching, asked[0]) == known_answer(permutations=400, seed=1)


def test_a_cancel_reaches_the_server_that_computes(new_database: NewDatabase, made: Servers) -> None:
    url = new_database()
    with serving(url, started=False) as watching:
        record = ask(watching, with_files=True, permutations=PERMUTATIONS)
        made.start(url)
        wait_until(made.computed)
        watching.cancel(record.id)
        cancelled = ended(watching, record)
        assert cancelled.state == "cancelled"
        assert cancelled.done < PERMUTATIONS


def test_the_run_of_a_dead_server_is_taken_over(postgres: Postgres, made: Servers) -> None:
    url = postgres.new_database()
    with serving(url, started=False) as watching:
        record = ask(watching, with_files=True, permutations=8_000)
        first, second = made.start(url, lease=2.0), made.start(url, lease=2.0)
        wait_until(lambda: now(watching, record).done)
        (computing,) = {pid for pid, *_ in made.computed()}
        made.kill(computing)
        assert result_digits(watching, record) == known_answer(permutations=8_000)
        assert now(watching, record).attempt == 2
        assert {pid for pid, *_ in made.computed()} == {first, second}
