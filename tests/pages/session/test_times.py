import pytest

from pages._ui.helpers.state import in_words, lasted

DAY = 86400


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "just now"),
        (-59, "just now"),
        (30, "in less than a minute"),
        (-60, "1 minute ago"),
        (-3599, "60 minutes ago"),
        (-7200, "2 hours ago"),
        (7 * DAY, "in 7 days"),
        (-DAY, "1 day ago"),
        (-400 * DAY, "long ago"),
        (400 * DAY, "later"),
    ],
)
def test_in_words(seconds: float, words: str) -> None:
    assert in_words(1e9 + seconds, now=1e9) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(3.21, "3.2 s"), (250, "4 min 10 s"), (3600, "1 h 0 min"), (59.97, "60.0 s")]
)
def test_lasted(seconds: float, words: str) -> None:
    assert lasted(seconds) == words
