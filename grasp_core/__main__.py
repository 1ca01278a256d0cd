"""``python -m grasp_core``, and the ``grasp`` program."""

from __future__ import annotations

from grasp_core import cli


def main() -> int:
    """Run a command."""
    return cli.main()


if __name__ == "__main__":
    raise SystemExit(main())
