"""``warm``: compile the kernels now."""

from __future__ import annotations

import argparse

from grasp_core.engine.warm import warm


def fill_warm(parser: argparse.ArgumentParser) -> None:
    """The command has no arguments."""
    parser.set_defaults(command=lambda _: warm())
