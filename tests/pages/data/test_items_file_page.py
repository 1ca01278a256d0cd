"""The items file on Data: dropped, its ids chosen where they are not certain, its columns recoded."""

from streamlit.testing.v1 import AppTest

from pages._ui.helpers.state import VisitorSession
from tests.pages.visits import bring, cut, drop, plain, press, seen, widget
from tests.zips import zipped

VOTES = "item,rater,label,group\n" + "".join(
    f"i{i},r{j},{'yes' if (i * j) % 3 else 'no'},{'ab'[j % 2]}\n" for i in range(12) for j in range(6)
)
ITEMS = "id,topic,length\n" + "".join(f"i{i},{'news' if i % 2 else 'sport'},{10 * i}\n" for i in range(12))


def opened(page: AppTest, items: str = ITEMS) -> VisitorSession:
    bring(page, "votes.csv", VOTES.encode())
    drop(page, "items.csv", items.encode())
    return page.session_state["work"]


def test_an_items_file_is_read_beside_the_annotations(page: AppTest) -> None:
    session = opened(page)
    assert not page.error
    assert widget(page.selectbox, "Column of item ids in the items file").value == "id"
    ids = widget(page.selectbox, "Column of item ids in the items file")
    assert "Guessed: 'id' holds 100% of the items." in plain(ids.help)
    assert "Columns that describe items, for slices: topic (2 values)" in seen(page.caption)
    assert session.data_spec.items_id == "id"
    assert [file.name for file in session.dataset.summary.files] == ["votes.csv", "items.csv"]


def test_ids_that_are_not_certain_are_asked(page: AppTest) -> None:
    turned = "one,two,topic\n" + "".join(f"i{i},i{11 - i},{'ab'[i % 2]}\n" for i in range(12))
    session = opened(page, turned)
    assert "the items file's column of item ids" in seen(page.error)
    assert session.dataset is None
    widget(page.selectbox, "Column of item ids in the items file").set_value("two").run()
    assert not page.error
    assert session.dataset.attributes["topic"].codes.tolist() == [1, 0] * 6


def test_ids_that_do_not_match_are_told_and_the_file_can_be_removed(page: AppTest) -> None:
    session = opened(page, ITEMS.replace("\ni", "\nI"))
    widget(page.selectbox, "Column of item ids in the items file").set_value("id").run()
    assert "none of the items of votes.csv" in seen(page.error)
    assert "upper and lower case" in seen(page.error)
    press(page, "Remove the items file")
    assert session.items is None
    assert session.dataset is not None


def test_columns_of_items_are_cut_into_ranges(page: AppTest) -> None:
    session = opened(page)
    assert "length" not in session.dataset.attributes  # 12 values of 12 items
    cut(page, "length", at="60")
    assert len(session.dataset.attributes["length"].values) == 2
    assert session.dataset.attributes["length"].codes.tolist() == [0] * 6 + [1] * 6


def test_the_items_may_be_on_another_sheet(page: AppTest) -> None:
    bring(page, "both.zip", zipped({"votes.csv": VOTES, "items.csv": ITEMS}))
    session = page.session_state["work"]
    assert (session.data_spec.member, session.data_spec.items_member) == ("votes.csv", "items.csv")
    assert "topic" in session.dataset.attributes


def test_texts_of_a_million_characters_are_shown_cut_and_make_no_slices(page: AppTest) -> None:
    long = "id,topic,text\n" + "".join(f"i{i},{'ab'[i % 2]},{'x' * 1_000_000}\n" for i in range(12))
    session = opened(page, long)
    assert not page.error
    assert set(session.dataset.attributes) == {"topic"}
