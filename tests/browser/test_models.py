from playwright.sync_api import expect

from grasp_core.benchmark.leaderboard import published
from tests.browser.visits import picture, settle, table, violations


def test_a_full_submission_is_validated_scored_and_shown(open_page, store, submission) -> None:
    page = open_page("/models?models-view=Submit")
    settle(page)
    page.locator("input[type=file]").first.set_input_files(
        {"name": "ours.zip", "mimeType": "application/zip", "buffer": submission}
    )
    page.get_by_text("All submission files validated!").wait_for()
    settle(page)
    name = page.get_by_role("textbox", name="Name of the system")
    name.fill("Most right")
    name.press("Enter")
    settle(page)
    page.get_by_role("button", name="Score", exact=True).click()
    page.get_by_text("It now stands on the Leaderboard").wait_for(timeout=90_000)
    assert len(table(page, "Scores by task")) == 11
    picture(page, "models-scored")
    page.get_by_test_id("stButtonGroup").get_by_text("Leaderboard", exact=True).click()
    board = page.get_by_label("Macro-F1 of all tasks (mean), best first").first
    expect(board).to_be_visible()
    shown = table(page, "Macro-F1 of every system, overall and by task")
    assert [row["Scored"] for row in shown if row["System"] == "Most right"] == ["here"]
    assert len(shown) == len(published()) + len(store.submissions.all())
    wins = {row["System"]: row["Wins"] for row in shown}
    assert wins["Human (crowd)"] == "8 of 11"
    picture(page, "models-leaderboard")
    assert violations(page) == []
