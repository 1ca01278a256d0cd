import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.visits import (
    bring,
    choose,
    drop_choice,
    go_on_to_analysis,
    results,
    row_of,
    run,
    set_number,
    settle,
    table,
    view,
)
from tests.labels import (
    ALL_STATISTICS,
    CONTINUE,
    TRY_EXAMPLE,
)
from tests.shared_data import DICES350, needs_shared_data


@pytest.mark.long
@needs_shared_data
def test_dices350_by_gender_race_and_both(open_page: OpenPage) -> None:
    page = open_page("/data")
    zone = page.get_by_test_id("stFileUploader").locator("input[type=file]")
    zone.set_input_files([DICES350 / "items.csv", DICES350 / "raters.csv", DICES350 / "ratings_long.csv"])
    page.get_by_role("heading", name="43,050 answers to 350 items by 123 raters").wait_for()
    expect(page.get_by_role("button", name=CONTINUE)).to_be_disabled()  # it waits for an answer
    page.get_by_text("Leave out (recommended)").click()
    page.get_by_role("heading", name="36,400 answers to 350 items by 104 raters").wait_for()
    go_on_to_analysis(page)
    drop_choice(page, "age")
    choose(page, "Intersections", "gender × race")
    run(page)
    results(page)
    view(page, "Groups in numbers")
    white_men = row_of(page, "Man, White")
    assert white_men["GAI"] == "1.262"  # Table 5 of the paper
    assert "GAI ↑*" in white_men["Marked"]
    assert len(table(page, ALL_STATISTICS)) == 17


def test_doors_open_with_the_keyboard(open_page: OpenPage) -> None:
    page = open_page()
    settle(page)
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText").strip().endswith(TRY_EXAMPLE):
            break
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Black Woman raters").wait_for(timeout=90_000)


def test_what_was_brought_and_chosen_outlives_the_tab(open_page: OpenPage, example: dict[str, bytes]) -> None:
    page = open_page("/data")
    marked = example["raters.csv"].replace(b"rater_age\n", b"rater_age,removed\n", 1).splitlines()
    lines = [marked[0], *(line + (b",True" if n < 4 else b",False") for n, line in enumerate(marked[1:]))]
    bring(page, example["annotations.csv"], b"\n".join(lines))
    page.get_by_text("Leave out (recommended)").click()
    page.get_by_role("heading", name="by 100 raters").wait_for()
    settle(page)
    page.reload()
    page.get_by_role("heading", name="by 100 raters").wait_for()
    go_on_to_analysis(page)
    set_number(page, "Seed", 7)
    context = page.context
    page.close()
    again = context.new_page()
    again.goto(page.url)
    again.get_by_role("heading", name="Analysis", exact=True).wait_for()
    expect(again.get_by_label("Seed", exact=True)).to_have_value("7")
    other = open_page("/data")  # another browser
    other.get_by_role("heading", name="Data", exact=True).wait_for()
