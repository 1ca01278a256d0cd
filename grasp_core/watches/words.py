"""What is said of a watch: how often, how it stands, why it is paused."""

from __future__ import annotations

from collections.abc import Mapping

from grasp_core.model.wording import number
from grasp_core.store.watches import FAILURES, Paused, Watch

EVERY: Mapping[str, str] = {"hourly": "every hour", "daily": "every day", "weekly": "every week"}
PAUSED: Mapping[Paused, str] = {
    "person": "Paused.",
    "failures": f"Paused after {FAILURES} looks in a row that failed.",
    "rights": "Stopped: the person whose watch it is may not start runs in this project any more.",
    "run": "Stopped: the run that it repeats is not in this project any more.",
}
CANCELLED = "The run of the changed data was cancelled."
MOVED = "The run of the changed data is not in this project any more."


def how_often(every: str) -> str:
    """How often is looked."""
    if every in EVERY:
        return EVERY[every]
    count, unit = int(every[:-1]), {"h": "hour", "d": "day"}[every[-1]]
    return f"every {unit}" if count == 1 else f"every {number(count, unit)}"


def state(watch: Watch) -> str:
    """How a watch stands, in a sentence."""
    if watch.paused is not None:
        return PAUSED[watch.paused]
    if watch.going_run is not None:
        return "Its files have changed; they are being analysed."
    if watch.failures:
        return f"The last {'look' if watch.failures == 1 else f'{watch.failures} looks'} failed."
    return "Up to date with its files." if watch.looked_at else "Not looked at yet."
