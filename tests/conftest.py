"""A real browser for tests, skipped where there is no Chromium; and how tests share the cores."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from xdist.scheduler import LoadFileScheduling

PATIENCE_MS = 30_000


class _Scheduling(LoadFileScheduling):
    """A file's tests stay together, and so do those of whole pages: two browsers starve each other."""

    def _split_scope(self, nodeid: str) -> str:
        return "tests/browser" if nodeid.startswith("tests/browser/") else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadFileScheduling:
    return _Scheduling(config, log)


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
