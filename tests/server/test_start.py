"""A server that is started sweeps at once, and what it began ends with it."""

import threading
import time

from grasp_core.server.server import Server
from grasp_core.store.schema import links
from tests.made_up import BOARD
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
