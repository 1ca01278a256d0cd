"""The leaderboard's file form."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import pytest

from grasp_core.benchmark.leaderboard import leaderboard_dict, leaderboard_table, read_leaderboard
from grasp_core.model.errors import DataError
from tests.made_up import BOARD, ENTRIES


def test_a_leaderboard_is_read_back_without_ids() -> None:
    entries, tasks = read_leaderboard(json.loads(json.dumps(BOARD, allow_nan=False)))
    assert tasks == ["one", "two"]
    assert entries == [replace(entry, id="") for entry in ENTRIES]
    assert leaderboard_dict(entries, tasks) == BOARD
    assert leaderboard_table(entries, tasks).equals(leaderboard_table(ENTRIES, tasks))
    assert all(entry.id not in str(BOARD) for entry in ENTRIES if entry.id)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 2),
        (("format",), "grasp-models"),
        (("tasks",), [1]),
        (("tasks",), None),
        (("systems",), {"ours": 1}),
        (("systems", 0, "system"), None),
        (("systems", 0, "tasks", "one"), "0.5"),
        (("systems", 0, "tasks", "one"), float("nan")),
        (("systems", 0, "tasks", "one"), True),
        (("systems", 0, "overall"), 1.5),
        (("systems", 0, "ci95", "one"), [0.1]),
        (("systems", 0, "ci95"), None),
        (("systems", 0), "ours"),
    ],
)
def test_a_damaged_leaderboard_is_told(path: tuple[str | int, ...], value: object) -> None:
    plain = copy.deepcopy(BOARD)
    place = plain
    for step in path[:-1]:
        place = place[step]  # type: ignore[index]
    place[path[-1]] = value  # type: ignore[index]
    with pytest.raises(DataError):
        read_leaderboard(plain)
