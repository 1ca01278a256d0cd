"""Which tests need a server, and how test processes share the tests: a file at a time."""

from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

TESTS = Path(__file__).parent
SERVERS = frozenset(("browser", "deploy", "engine", "pages", "reading/connectors", "server", "store"))
"""Folders whose tests run a server, a database or processes of their own: marked `server`."""
LONG = frozenset(("analysis", "benchmark", "cli", "notebook", "study"))
"""Further folders of which some files take long."""
SERVED = ("tests/server/served/",)
SIGNING_IN = ("tests/browser/test_sign_in.py", "tests/browser/test_team_screens.py")
TOGETHER = (SERVED, SIGNING_IN)
"""How the names of files begin whose tests share servers, and so a process."""
LONGEST = (*SERVED, *SIGNING_IN, "tests/browser/test_looks.py", "tests/browser/test_shared.py")
"""What is begun first."""


def room(path: Path) -> str:
    """The folder below `tests` that a file is in: the deepest that :data:`SERVERS` or :data:`LONG` name."""
    if not path.is_relative_to(TESTS):
        return ""
    inside = path.relative_to(TESTS)
    named = (one.as_posix() for one in (inside, *inside.parents))
    return next((name for name in named if name in SERVERS | LONG), inside.parts[0])


def longest_first(path: Path) -> int:
    """A file's place where several processes share all: long ones first, so that all end together."""
    if path.is_relative_to(TESTS) and path.relative_to(TESTS.parent).as_posix().startswith(LONGEST):
        return 0
    return 1 if room(path) in SERVERS else 2 if room(path) in LONG else 3


class ByFile(LoadFileScheduling):
    """Hands whole files to processes, in the order of the tests."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        config.option.loadscopereorder = False  # files with the most tests first
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return next((begins[0] for begins in TOGETHER if file.startswith(begins)), file)
