"""Readings that come back with the next files of the same columns."""

from streamlit.testing.v1 import AppTest

from grasp_core.model.access import User
from grasp_core.model.errors import StoreError
from grasp_core.reading.sandbox.read import read_table
from grasp_core.server.server import Server
from grasp_core.store.readings import ReadingStore
from grasp_core.store.schema import readings
from pages._ui.data import remembered
from pages._ui.data.remembered import signature
from pages._ui.helpers import identity as permissions
from tests.labels import CONTINUE, LABEL_COLUMN, RUN_AGAIN
from tests.pages.visits import drop, finished, labels, on, press, seen, shown_run, visit, widget
from tests.store.making import change

MAY_3 = 1_777_800_000.0


def month(*labels: str, prefix: str = "r", column: str = "mood") -> bytes:
    """A file in which the label's column is easily taken for another."""
    rows = [
        f"i{item},{prefix}{rater},{labels[(item + rater) % 3 % len(labels)]},{'ab'[(item * rater) % 2]},"
        f"{('Woman', 'Man')[rater % 2]}"
        for item in range(8)
        for rater in range(6)
    ]
    return "\n".join([f"item,rater,{column},label,gender", *rows]).encode()


def confirm(page: AppTest, content: bytes) -> AppTest:
    """Say that "mood" holds the labels, and in which order they are."""
    drop(page, "april.csv", content)
    assert widget(page.selectbox, LABEL_COLUMN).value == "label"
    widget(page.selectbox, LABEL_COLUMN).set_value("mood").run()
    widget(page.multiselect, "Labels, in order").set_value(["Yes", "No"]).run()
    return press(page, CONTINUE)


def test_next_months_file_needs_no_clicks(server: Server) -> None:
    confirm(visit("data"), month("Yes", "No"))
    change(server.database, readings, updated_at=MAY_3)
    page = drop(visit("data"), "may.csv", month("No", "Yes", prefix="other"))
    assert widget(page.selectbox, LABEL_COLUMN).value == "mood"
    assert widget(page.multiselect, "Labels, in order").value == ["Yes", "No"]
    assert "Read as on 3 May 2026 by you." in seen(page.caption)
    assert "label: its name" not in seen(page.caption)
    press(page, "Start afresh")
    assert widget(page.selectbox, LABEL_COLUMN).value == "label"
    assert "Read as on" not in seen(page.caption)
    assert "Start afresh" not in labels(page.button)


def questions(page: AppTest) -> dict[str, object]:
    return {
        one.label.replace("\\", ""): one.value for one in page.segmented_control if one.label != "Add a step"
    }


def test_what_was_decided_is_pressed_and_can_be_changed(server: Server) -> None:
    def of_month(*more: str) -> bytes:
        status = ("approved", "rejected")
        rows = [
            f"i{n % 8},r{n // 8},{n % 5},{'MW'[n // 8 % 2]},{('no', 'yes')[n > 39]},{status[n == 9]}"
            for n in range(48)
        ]
        return "\n".join(["item,rater,label,gender,removed,status", *rows, *more]).encode()

    page = drop(visit("data"), "april.csv", of_month("i0,r0,3,M,no,approved", "i1,,0,,no,approved"))
    asked = {
        "1 rater with 'removed' = 'yes'": False,
        "1 annotation with 'status' = 'rejected'": True,
        "1 row without an id in 'rater'": True,
        "1 answer that differs from another of the same rater to the same item": False,
        "The labels are the numbers 0 to 4": False,
    }
    assert questions(page).keys() == asked.keys()
    for words, answer in asked.items():
        found = (one for one in page.segmented_control if one.label.replace("\\", "") == words)
        next(found).set_value(answer).run()
    decided = page.session_state["work"].data_spec
    assert (decided.exclude, decided.repeated) == ((), "first")
    press(page, CONTINUE)

    may = of_month("i0,r0,3,M,no,approved", "i1,,0,,no,approved", "i9,r1,4,W,no,approved")
    page = drop(visit("data"), "may.csv", may)
    assert "by you" in seen(page.caption)
    assert questions(page) == asked
    session = page.session_state["work"]
    assert (session.data_spec, session.level) == (decided, "nominal")
    removed = next(one for one in page.segmented_control if "removed" in one.label)
    removed.set_value(True).run()
    assert session.data_spec.exclude == (("removed", "yes"),)
    press(page, "Start afresh")
    assert set(questions(page).values()) == {None, True}  # the order of numbers, by which no row goes
    assert session.data_spec is None


def test_a_run_that_is_changed_has_its_answers_pressed(server: Server) -> None:
    rows = [f"i{n % 8},r{n // 8},{n % 3},{'MW'[n // 8 % 2]},{('no', 'yes')[n > 39]}" for n in range(48)]
    page = drop(
        visit("data"),
        "votes.csv",
        "\n".join(["item,rater,label,gender,removed", *rows, "i0,r0,2,M,no"]).encode(),
    )
    for words in ("removed", "differs from another", "are the numbers"):
        next(one for one in page.segmented_control if words in one.label).set_value(False).run()
    press(page, CONTINUE)
    on(page, "analysis")
    widget(page.number_input, "Permutations").set_value(200).run()
    run = shown_run(finished(press(page, "Run"), server), server)
    visitor = visit("results", run=run.id)
    on(press(visitor, RUN_AGAIN), "analysis")
    visitor.switch_page("data.py").run()
    assert list(questions(visitor).values()) == [False] * 3
    assert not widget(visitor.button, CONTINUE).disabled
    assert visitor.session_state["work"].data_spec == run.spec.data


def test_labels_that_were_not_declared_and_ids_are_not_taken_over(server: Server) -> None:
    page = drop(visit("data"), "april.csv", month("Yes", "No"))
    widget(page.selectbox, LABEL_COLUMN).set_value("mood").run()
    widget(page.multiselect, "Labels, in order").set_value(["Yes", "No"]).run()
    widget(page.text_area, "Leave out these raters").set_value("r1\nr2").run()
    press(page, CONTINUE)
    page = drop(visit("data"), "may.csv", month("Yes", "No", "Unsure"))
    said = seen(page.caption)
    assert "'Unsure' was not among them" in said
    assert "2 rules on single raters or items" in said
    assert widget(page.selectbox, LABEL_COLUMN).value == "mood"
    assert widget(page.multiselect, "Labels, in order").value == ["No", "Unsure", "Yes"]
    assert widget(page.text_area, "Leave out these raters").value == ""
    assert page.metric[1].value == "6"


def test_a_reading_that_does_not_fit_is_named_and_left(server: Server) -> None:
    content = month("Yes", "No")
    key = signature(read_table(content), None)
    ReadingStore(server.database).remember(
        key, remembered.DataSpec(item="item", rater="rater", label="gone"), (), owner=""
    )
    page = drop(visit("data"), "may.csv", content)
    assert "does not fit this file: may.csv has no column 'gone'" in seen(page.caption)
    assert widget(page.selectbox, LABEL_COLUMN).value == "label"
    assert "Start afresh" not in labels(page.button)


def test_a_colleagues_reading_is_named_and_ones_own_comes_first(monkeypatch, server) -> None:
    def sign_in(name: str) -> None:
        user = User(f"{name}@lab.example", name, "analyst")
        monkeypatch.setattr(permissions, "current_user", lambda: user)
        monkeypatch.setattr(remembered, "current_user", lambda: user)

    sign_in("ann")
    confirm(visit("data"), month("Yes", "No"))
    sign_in("bob")
    page = drop(visit("data"), "may.csv", month("Yes", "No"))
    assert "by ann@lab.example." in seen(page.caption)
    widget(page.multiselect, "Labels, in order").set_value(["No", "Yes"]).run()
    press(page, CONTINUE)
    for name, order in (("ann", ["Yes", "No"]), ("bob", ["No", "Yes"])):
        sign_in(name)
        page = drop(visit("data"), "june.csv", month("Yes", "No"))
        assert "by you." in seen(page.caption)
        assert widget(page.multiselect, "Labels, in order").value == order


def test_nothing_is_said_where_the_guess_is_the_same(server: Server, example: dict[str, bytes]) -> None:
    for _ in range(2):
        page = drop(visit("data"), "annotations.csv", example["annotations.csv"])
        drop(page, "raters.csv", example["raters.csv"])
        assert "Read as on" not in seen(page.caption)
        assert "Guessed: " in seen(page.caption) or "Recognised: " in seen(page.caption)
        press(page, CONTINUE)


def test_a_database_that_is_away_keeps_nobody_from_going_on(monkeypatch, server) -> None:
    def fail(*_: object, **__: object) -> None:
        raise StoreError("The database cannot be reached; try again in a moment.")

    monkeypatch.setattr(ReadingStore, "recall", fail)
    monkeypatch.setattr(ReadingStore, "remember", fail)
    page = drop(visit("data"), "may.csv", month("Yes", "No"))
    assert page.metric
    press(page, CONTINUE)
    assert not page.error
    assert not page.exception
