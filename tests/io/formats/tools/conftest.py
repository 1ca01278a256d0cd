from __future__ import annotations

from collections.abc import Iterator

import pytest

from grasp_core.io.parsing import read as tables
from tests.io.making import parsed_here


@pytest.fixture(autouse=True, scope="module")
def _in_this_process() -> Iterator[None]:
    """Readers of tools are tried in this process; that files are read in another is tested once for all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "read", parsed_here)
        yield
