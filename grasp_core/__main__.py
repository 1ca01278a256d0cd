"""Entry point of ``python -m grasp_core`` and of the ``grasp`` program."""

import gc
import os
import sys

from grasp_core import cli

_YOUNG = 100_000
"""New objects between two garbage collections: high, since most objects that imports make stay in use."""


def main() -> int:
    """Run a command. If the user cancelled it, exit at once, without waiting for its threads."""
    gc.set_threshold(_YOUNG, 50, 50)
    status = cli.main()
    if status == cli.INTERRUPTED:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    gc.freeze()  # the process ends, so the last collection need not search all objects
    return status


if __name__ == "__main__":
    raise SystemExit(main())
