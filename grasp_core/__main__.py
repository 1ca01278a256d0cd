"""``python -m grasp_core``, and the ``grasp`` program."""

from __future__ import annotations

import gc

from grasp_core import cli

_YOUNG = 100_000
"""New values between two looks for unused ones; most that a command makes while it is imported are used."""


def main() -> int:
    """Run a command."""
    gc.set_threshold(_YOUNG, 50, 50)
    status = cli.main()
    gc.freeze()  # the process ends, and need not look through what is there
    return status


if __name__ == "__main__":
    raise SystemExit(main())
