"""Several questions about the same items, from two columns to one answer."""

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.visits import (
    choose,
    drop,
    go_on_to_analysis,
    picture,
    results,
    run,
    settle,
    view,
    violations,
)
from tests.labels import DATA_AND_METHODS, DROP_FILES, LEVEL, RUN_AGAIN, UNDERSTOOD


def answers() -> bytes:
    rng = np.random.default_rng(1)
    rows = ["item,rater,label,score,gender"]
    for j in range(14):
        for i in range(10):
            rows.append(f"i{i},r{j},{rng.choice(['No', 'Yes'])},{rng.integers(1, 5)},{'MW'[j % 2]}")
    return ("\n".join(rows) + "\n").encode()


@pytest.mark.long
def test_two_questions_together_and_one_by_itself(open_page: OpenPage) -> None:
    page = open_page("/data")
    drop(page, DROP_FILES, "answers.csv", answers())
    page.get_by_role("heading", name=UNDERSTOOD).wait_for()
    page.get_by_text("Change how the files are read").click()
    settle(page)
    choose(page, "Further questions about the same items (optional)", "score")
    page.get_by_role("combobox", name="Labels of score, in order").wait_for()
    picture(page, "data-questions")
    assert violations(page) == []
    go_on_to_analysis(page)
    picture(page, "analysis-questions")
    assert violations(page) == []
    run(page)
    results(page)
    view(page, DATA_AND_METHODS)
    expect(page.get_by_text("label, score. IRR and XRR take all of them together")).to_be_visible()
    page.get_by_role("button", name=RUN_AGAIN).click()
    page.get_by_role("heading", name="Analysis", exact=True).wait_for()
    settle(page)
    page.get_by_role("radio", name="score").click()
    settle(page)
    page.get_by_text("Advanced").click()
    settle(page)
    choose(page, LEVEL, "Interval: numbers")
    picture(page, "analysis-level")
    assert violations(page) == []
    run(page)
    results(page)
    view(page, DATA_AND_METHODS)
    expect(page.get_by_text("they disagree by the square of their difference.")).to_be_visible()
