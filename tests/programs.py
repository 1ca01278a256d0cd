"""Programs beside Python that tests need: those that the environment names, or that `make test` installs."""

import functools
import os
import time
from collections.abc import Mapping
from pathlib import Path

PATIENCE_S = 600


def named(variable: str) -> str | None:
    """What a variable of the environment says, e.g. GRASP_CADDY; waited for while `make test` installs it."""
    return os.environ.get(variable, _installed().get(variable))


@functools.cache
def _installed() -> Mapping[str, str]:
    told = os.environ.get("GRASP_PROGRAMS")
    if told is None:
        return {}
    deadline = time.monotonic() + PATIENCE_S
    while not Path(told).exists():
        assert time.monotonic() < deadline, "programs were not installed in time"
        time.sleep(0.2)
    lines = Path(told).read_text(encoding="utf-8").splitlines()
    return {name: value for name, _, value in (line.partition("=") for line in lines)}
