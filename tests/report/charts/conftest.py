"""Charts whose parts Altair validates when they are made."""

from collections.abc import Iterator

import pytest
from altair.utils.schemapi import debug_mode


@pytest.fixture(autouse=True, scope="module")
def validated(_cheaply: None) -> Iterator[None]:
    with debug_mode(True):
        yield
