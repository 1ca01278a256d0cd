"""Times as programs and people write them, in order; what is not certain is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.model.errors import DataError
from grasp_core.reading.dataset._times import ranks

WHERE = "votes.csv, column 'when'"


def refused(*texts: str) -> str:
    with pytest.raises(DataError) as caught:
        ranks(WHERE, texts, texts)
    message = str(caught.value)
    assert message.startswith(WHERE)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    "earlier_first",
    [
        ("9", "10", "1e3"),
        ("1709546400123456788", "1709546400123456789"),
        ("-1.5", "0.25"),
        ("2024-03-05", "2024-03-05 00:00:01", "2024-03-05T00:00:01.5", "2024-3-6 1:00"),
        ("2024-03-05T10:00:00+02:00", "2024-03-05T09:00:00Z", "2024-03-05T05:00:00-0500"),
        ("2024-03-05T10:00:00.123456788Z", "2024-03-05T10:00:00.123456789Z"),
        ("2024/03/05 10:00", "2024/03/05 10:01"),
        ("5.3.2024 10:00", "04.04.2024 09:00"),
        ("13/01/2024 10:00", "02/02/2024 09:00"),
        ("1/31/2024 10:00", "2/2/2024 9:00"),
        ("1/31/2024 11:59 AM", "1/31/2024 12:00 PM", "1/31/2024 1:00:00 p.m."),
        ("1/31/2024 12:30 AM", "1/31/2024 1:00 AM"),
        ("Tue Jul 21 10:20:30 PDT 2020", "Tue Jul 21 17:20:31 UTC 2020"),
        ("Tue, 21 Jul 2020 10:20:30 GMT", "21 Jul 2020 12:20:31 +0200"),
        ("Mar 5, 2024 10:11 PM", "Mar 5, 2024 at 11:00 PM", "September 1, 2024"),
        ("Tue Mar 05 2024 10:11:12 GMT+0100 (Central European Standard Time)", "2024-03-05 09:11:13Z"),
        ("2024-03-05 10:00 CEST", "2024-03-05 10:01 CEST"),
    ],
)
def test_times_are_put_in_order(earlier_first: tuple[str, ...]) -> None:
    found = ranks(WHERE, reversed(earlier_first), earlier_first)
    assert [found[text] for text in earlier_first] == list(range(len(earlier_first)))


def test_equal_times_have_one_rank() -> None:
    found = ranks(WHERE, ["1", "1.0", "2"], ())
    assert found == {"1": 0, "1.0": 0, "2": 1}


def test_the_column_tells_whether_the_day_comes_first() -> None:
    texts = ["3/4/2024", "2/5/2024"]
    assert ranks(WHERE, texts, [*texts, "13/4/2024"]) == {"3/4/2024": 0, "2/5/2024": 1}
    assert ranks(WHERE, texts, [*texts, "4/13/2024"]) == {"3/4/2024": 1, "2/5/2024": 0}


def test_dates_that_may_be_two_days_are_refused() -> None:
    assert "whether '3/4/2024' names the day or the month first" in refused("3/4/2024", "2/5/2024")
    both = refused("3/4/2024", "13/5/2024", "5/13/2024")
    assert "'13/5/2024' names the day first and '5/13/2024' the month" in both


@pytest.mark.parametrize(
    "text", ["yesterday", "12:30", "2024-02-30", "1/2/24 10:00 x", "13:00 PM", "2024-13-01", "1/13/24", "1,5"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    assert f"'{text}' is no number or time" in refused(text, "2024-01-01")


@pytest.mark.parametrize(
    "pair",
    [
        ("1709546400", "2024-03-05"),
        ("2024-03-05 10:00", "2024-03-05 10:00Z"),
        ("2024-03-05 10:00 CEST", "2024-03-05 10:00 CET"),
    ],
)
def test_times_of_different_kinds_are_refused(pair: tuple[str, str]) -> None:
    assert "which is earlier cannot be told" in refused(*pair)


@given(st.lists(st.datetimes(), min_size=1, unique=True))
def test_iso_times_have_the_order_of_the_moments(moments) -> None:
    texts = {moment.isoformat(): moment for moment in moments}
    found = ranks(WHERE, texts, ())
    assert sorted(texts, key=found.__getitem__) == sorted(texts, key=texts.__getitem__)


@given(st.text())
def test_any_text_is_ordered_or_refused_in_a_sentence(text) -> None:
    try:
        found = ranks(WHERE, [text], [text])
    except DataError as error:
        found = {text: str(error).count("\n")}
    assert found == {text: 0}
