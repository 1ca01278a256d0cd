"""A real browser for all tests that want one; skipped where there is no Chromium."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

PATIENCE_MS = 30_000


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("GRASP_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None and "GRASP_CHROMIUM" not in os.environ:  # empty there: Playwright's own browser
        pytest.skip("needs Chromium: none of " + ", ".join(names) + " is installed")
    expect.set_options(timeout=PATIENCE_MS)
    flags = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=flags)
        yield launched
        launched.close()
