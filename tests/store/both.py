"""Tests that run on both databases each time: of locks, and of what each database does in its own way.

All others take PostgreSQL in `make test-long` alone: the statements are the same.
"""

import pytest

_BOTH = ["sqlite", "postgresql"]
on_both = pytest.mark.parametrize("new_database", _BOTH, indirect=True)
on_both_bare = pytest.mark.parametrize("bare_database", _BOTH, indirect=True)
