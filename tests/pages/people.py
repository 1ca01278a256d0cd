"""Visitors with roles of their own."""

from __future__ import annotations

import pytest

from grasp_core.access import User
from pages._ui.session import identity, permissions

ANN, BOB = (User(f"{name}@lab.example", name, "analyst") for name in ("ann", "bob"))
ROOT = User("root@lab.example", "root", "admin")
VERA = User("vera@lab.example", "vera", "viewer")


def become(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (identity, permissions):
        monkeypatch.setattr(module, "visitor", lambda **_: user)
