"""A server that is started sweeps at once, and what it began ends with it."""

import threading
import time

import pytest

from grasp_core.server.server import Server
from grasp_core.store.schema import links, runs
from tests.made_up import BOARD
from tests.results import make_result
from tests.store.making import change

PATIENCE_S = 60


def test_what_is_past_its_age_goes_when_a_server_starts(server: Server) -> None:
    server.links.create_leaderboard(BOARD, created_by="", days=-1)
    change(server.database, links, created_at=links.c.created_at - 3 * 86400)
    server.start()
    deadline = time.monotonic() + PATIENCE_S
    while server.links.of_leaderboards():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    (sweeping,) = (one for one in threading.enumerate() if one.name == "grasp-sweep")
    server.close()
    assert not sweeping.is_alive()


@pytest.mark.parametrize(("days", "left"), [(0, 1), (30, 1), (1, 0)])
def test_runs_go_after_so_many_days_if_a_setting_says_so(server: Server, days: int, left: int) -> None:
    server.runs.add(make_result(), title="A run", owner="")
    change(server.database, runs, finished_at=runs.c.finished_at - 3 * 86400)
    object.__setattr__(server.settings, "keep_runs_days", days)
    server.sweep()
    assert len(server.runs.search()) == left
