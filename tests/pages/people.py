"""Visitors with roles of their own."""

import pytest

from grasp_core.model.access import User
from pages._ui.helpers import identity
from pages._ui.result import on_demand as items

ANN, BOB = (User(f"{name}@lab.example", name, "analyst") for name in ("ann", "bob"))
ROOT = User("root@lab.example", "root", "admin")
VERA = User("vera@lab.example", "vera", "viewer")


ASKING = (identity, items)
"""All modules that ask who is looking: one that a test loads first would keep that test's visitor."""


def become(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ASKING:
        monkeypatch.setattr(module, "visitor", lambda **_: user)
