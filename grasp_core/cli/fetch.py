"""``fetch``: published data sets, downloaded from where their authors put them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from grasp_core.cli.terminal.lines import note
from grasp_core.reading.sources.published import PUBLISHED, Published, fetch


def fill_fetch(fetching: argparse.ArgumentParser, published: Mapping[str, Published] = PUBLISHED) -> None:
    """Add the command to the parser; it offers what is `published`."""
    fetching.add_argument("name", choices=published, metavar="NAME", help=f"one of {', '.join(published)}")
    fetching.add_argument(
        "--to", type=Path, default=Path(), metavar="DIR", help="default: the working folder"
    )
    fetching.set_defaults(command=partial(_fetch, published=published))


def _fetch(chosen: argparse.Namespace, published: Mapping[str, Published]) -> None:
    wanted = published[chosen.name]
    note(f"{wanted.bytes / 1e6:.1f} MB from {wanted.url}")
    print(fetch(chosen.name, chosen.to, published))
    print(f"licence: {wanted.licence}")
    print(f"to cite: {wanted.citation}")
    if wanted.warning:
        print(f"warning: {wanted.warning}", file=sys.stderr)
