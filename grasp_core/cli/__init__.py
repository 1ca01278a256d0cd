"""GRASP without a browser: ``grasp COMMAND``."""

from grasp_core.cli.entry import BAD_INPUT, FAILED, INTERRUPTED, main

__all__ = ["BAD_INPUT", "FAILED", "INTERRUPTED", "main"]
