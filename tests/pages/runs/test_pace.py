"""How often pages look at runs that go on."""

from __future__ import annotations

import pytest

from pages._ui.runs.progress import SHARE, pace


@pytest.mark.parametrize(
    ("news_every_s", "took_s", "now_s", "seconds"),
    [
        (1.0, 0.0, 0.0, 1.0),  # nothing was drawn yet
        (1.0, 0.15, 1.0, 1.0),
        (4.0, 0.15, 1.0, 4.0),  # more runs side by side
        (1.0, 0.15, 4.0, 1.0),  # fewer
        (1.0, 0.5, 1.0, 4.0),  # others keep the server busy
        (1.0, 0.3, 4.0, 4.0),  # a little less: the page is not drawn anew for that
        (4.0, 0.5, 4.0, 4.0),
        (3.0, 0.15, 4.0, 4.0),  # nor for one run fewer
        (1.0, 0.15, 2.0, 1.0),
        (2.0, 3.0, 2.0, 16.0),
    ],
)
def test_as_often_as_there_is_news_and_room(
    news_every_s: float, took_s: float, now_s: float, seconds: float
) -> None:
    assert pace(news_every_s, took_s, now_s) == seconds
    assert seconds >= SHARE * took_s
