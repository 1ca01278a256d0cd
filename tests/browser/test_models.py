from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from grasp_core.benchmark.tasks import builtin_tasks
from tests.browser.visits import picture, settle, table, violations
from tests.conftest import PATIENCE_MS
from tests.serving import serving

RIGHT = 0.7


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, bytes]]:
    """A server with gold labels of all 11 tasks, and a submission that has most of them right."""
    folder = tmp_path_factory.mktemp("benchmark")
    rng = np.random.default_rng(1)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, task in builtin_tasks().items():
            rows = task.test_rows
            gold = rng.choice(task.classes, rows)
            said = np.where(rng.random(rows) < RIGHT, gold, rng.choice(task.classes, rows))
            (folder / "gold" / name).mkdir(parents=True)
            (folder / "gold" / name / "test.csv").write_text(labelled(gold))
            archive.writestr(f"data/{name}/predictions.csv", labelled(said))
    with serving(folder, {"GRASP_RAFT_GOLD": str(folder / "gold")}) as served:
        yield served.url, packed.getvalue()


def labelled(labels: np.ndarray) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["ID", "Label"])
    writer.writerows((50 + row, label) for row, label in enumerate(labels))
    return out.getvalue()


@pytest.fixture
def page(browser: Browser, benchmark: tuple[str, bytes]) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE_MS)
    opened.goto(f"{benchmark[0]}/models?models-view=Submit")
    opened.get_by_role("heading", name="Models", exact=True).wait_for()
    yield opened
    context.close()


def test_a_full_submission_is_validated_scored_and_shown(page: Page, benchmark: tuple[str, bytes]) -> None:
    settle(page)
    page.locator("input[type=file]").first.set_input_files(
        {"name": "ours.zip", "mimeType": "application/zip", "buffer": benchmark[1]}
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
    assert len(shown) == 10
    picture(page, "models-leaderboard")
    assert violations(page) == []
