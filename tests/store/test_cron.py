"""When a watch looks next."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from grasp_core.model.errors import SpecError
from grasp_core.server.watches import how_often
from grasp_core.store.watches import next_look

SATURDAY = datetime(2026, 11, 28, 21, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("every", "due", "told"),
    [
        ("hourly", datetime(2026, 11, 28, 22, tzinfo=UTC), "every hour"),
        ("3d", datetime(2026, 12, 1, 21, tzinfo=UTC), "every 3 days"),
        (
            "30 6 * * 1-5",
            datetime(2026, 11, 30, 6, 30, tzinfo=UTC),
            "at 06:30 on Monday through Friday (UTC)",
        ),
        ("0 22 * * *", datetime(2026, 11, 28, 22, tzinfo=UTC), "at 22:00 every day (UTC)"),
    ],
)
def test_the_next_look(every: str, due: datetime, told: str) -> None:
    assert next_look(every, SATURDAY, lambda: SATURDAY) == due.timestamp()
    assert how_often(every) == told


@pytest.mark.parametrize(
    ("every", "why"),
    [
        ("* * * * *", "no time to look"),  # more often than hourly
        ("0,30 * * * *", "no time to look"),
        ("0 25 * * *", "no cron line: bad hour"),
        ("0 0 31 2 *", "no cron line: bad day-of-month"),
        ("0 0 * *", "no time to look"),
    ],
)
def test_what_is_no_time(every: str, why: str) -> None:
    with pytest.raises(SpecError, match=why):
        next_look(every, SATURDAY)
