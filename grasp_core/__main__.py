"""``python -m grasp_core``, and the ``grasp`` program."""

import gc
import os
import sys

from grasp_core import cli

_YOUNG = 100_000
"""New values between two looks for unused ones; most that a command makes while it is imported are used."""


def main() -> int:
    """Run a command; of one that the user cancelled, what threads have begun is not waited for."""
    gc.set_threshold(_YOUNG, 50, 50)
    status = cli.main()
    if status == cli.INTERRUPTED:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    gc.freeze()  # the process ends, and need not look through what is there
    return status


if __name__ == "__main__":
    raise SystemExit(main())
