import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visits import bring, go_on_to_analysis, go_to, run, set_number, settle
from tests.labels import CANCEL_RUN, RUN_AGAIN

LONG = 3_000_000
GOING_ON = re.compile("Groups · Pairs")


def _is_cancelled(page: Page) -> None:
    expect(page.get_by_role("alert").filter(has_text="cancelled")).to_be_visible()


@pytest.mark.timeout(600)  # on a busy machine each step takes long
def test_a_long_run_is_one_watched_from_elsewhere_cancelled_and_asked_again(open_page, whole_example) -> None:
    owner = open_page("/data")
    bring(owner, whole_example["annotations.csv"], whole_example["raters.csv"])
    go_on_to_analysis(owner)
    set_number(owner, "Permutations", LONG)
    owner.get_by_role("button", name="Run", exact=True).dblclick()
    expect(owner.get_by_text(re.compile(r"Groups · Pairs, about .* left"))).to_be_visible()

    other = open_page(owner.url[owner.url.index("/results") :])
    expect(other.get_by_text(GOING_ON)).to_be_visible()
    other.reload()
    expect(other.get_by_text(GOING_ON)).to_be_visible()
    other.get_by_role("link", name="Start").click()
    expect(other.get_by_role("link", name=re.compile("^label by"))).to_have_count(1)  # for two clicks
    other.get_by_role("link", name=re.compile("^label by")).click()
    other.get_by_role("button", name=CANCEL_RUN).click()
    _is_cancelled(other)

    _is_cancelled(owner)
    owner.get_by_role("button", name=RUN_AGAIN).click()
    owner.get_by_role("heading", name="Analysis", exact=True).wait_for()
    settle(owner)
    run(owner)
    owner.get_by_role("button", name=CANCEL_RUN).wait_for()
    go_to(owner, "Runs")
    owner.get_by_role("heading", name="Still going").wait_for()
    expect(owner.get_by_text(GOING_ON)).to_be_visible()
    owner.get_by_role("button", name="Cancel", exact=True).click()
    expect(owner.get_by_role("heading", name="Still going")).to_have_count(0)
    expect(owner.get_by_text("cancelled").first).to_be_visible()
